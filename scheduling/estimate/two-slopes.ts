/**
 * Slopes of least squares in two variables: [xx, xz; xz, zz] · slopes = [xy, zy].
 *
 * @param xx sum of squares, its ridge included; with ridges above 0 there is always a solution
 */
export function twoSlopes(xx: number, xz: number, zz: number, xy: number, zy: number): [number, number] {
  const determinant = xx * zz - xz * xz;
  return [(zz * xy - xz * zy) / determinant, (xx * zy - xz * xy) / determinant];
}
