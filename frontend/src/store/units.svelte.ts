/** In which unit the reader wants temperatures; they are stored, sent and asked for in °C. */
export const CELSIUS = '°C';
export const FAHRENHEIT = '°F';

const REMEMBER = 'smartcis.temperature';

class Units {
  temperature = $state(localStorage.getItem(REMEMBER) === FAHRENHEIT ? FAHRENHEIT : CELSIUS);

  choose(temperature: string): void {
    this.temperature = temperature === FAHRENHEIT ? FAHRENHEIT : CELSIUS;
    localStorage.setItem(REMEMBER, this.temperature);
  }
}

export const units = new Units();

/** A value and its unit as the reader wants them. */
export function preferred(value: number, unit: string): readonly [number, string] {
  return unit === CELSIUS && units.temperature === FAHRENHEIT
    ? [value * 1.8 + 32, FAHRENHEIT]
    : [value, unit];
}
