/** Degrees to metres and back: the plane that the server derives in, so what is not moved comes back as it was. */
export type Position = readonly [number, number];

const EARTH_RADIUS_M = 6_371_008.8;
const PER_DEGREE_M = (Math.PI / 180) * EARTH_RADIUS_M;
const DIGITS = 9; // of a degree: a tenth of a millimetre

const rounded = (value: number): number => Number(value.toFixed(DIGITS));

/** Local metres: x east, y north, zero at the origin (longitude, latitude). */
export class Plane {
  private readonly perLon: number;

  constructor(readonly origin: Position) {
    this.perLon = PER_DEGREE_M * Math.cos((origin[1] * Math.PI) / 180);
  }

  metres([lon, lat]: Position): Position {
    return [(lon - this.origin[0]) * this.perLon, (lat - this.origin[1]) * PER_DEGREE_M];
  }

  degrees([x, y]: Position): Position {
    return [rounded(this.origin[0] + x / this.perLon), rounded(this.origin[1] + y / PER_DEGREE_M)];
  }
}

/** Read "48.4229, 9.9558" (latitude first, as maps show it); null where that is none. */
export function place(text: string): Position | null {
  const found = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text);
  if (found === null) return null;
  const [lat, lon] = [Number(found[1]), Number(found[2])];
  return Math.abs(lat) < 90 && Math.abs(lon) <= 180 ? [lon, lat] : null;
}
