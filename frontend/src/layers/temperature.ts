/** What a room's temperature is called, as the layer of the map shows it. */
import './temperature.css';

/** The bands rooms are filled by: each ends below a temperature, °C. */
export const BANDS = [
  { name: 'cold', belowC: 18, text: 'below 18 °C' },
  { name: 'cool', belowC: 20, text: '18 to 20 °C' },
  { name: 'pleasant', belowC: 23, text: '20 to 23 °C' },
  { name: 'warm', belowC: 26, text: '23 to 26 °C' },
  { name: 'hot', belowC: Infinity, text: '26 °C and above' },
] as const;
