/** A part of the generated text, up to the next segment, that comes from that line of a source. */
export interface Segment {
  readonly offset: number;
  readonly source: number;
  readonly line: number;
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const digits = new Map([...ALPHABET].map((letter, digit) => [letter, digit]));

/** Parses a source map's `mappings` (ECMA-426), given the offset at which each line of the generated text begins. */
export function segmentsOf(mappings: string, line_offsets: readonly number[]): Segment[] {
  const segments: Segment[] = [];
  let [source, line] = [0, 0];
  for (const [row, groups] of mappings.split(';').entries()) {
    let column = 0;
    for (const group of groups.split(',')) {
      const [columns, sources, lines] = numbersOf(group);
      column += columns ?? 0;
      if (sources === undefined || lines === undefined) continue;
      source += sources;
      line += lines;
      segments.push({ offset: (line_offsets[row] ?? 0) + column, source, line });
    }
  }
  return segments;
}

function numbersOf(group: string): number[] {
  const numbers: number[] = [];
  let [value, shift] = [0, 0];
  for (const letter of group) {
    const digit = digits.get(letter) ?? 0;
    value += (digit & 31) << shift;
    shift += 5;
    if ((digit & 32) !== 0) continue;
    numbers.push((value & 1) === 1 ? -(value >> 1) : value >> 1);
    [value, shift] = [0, 0];
  }
  return numbers;
}

export function lineOffsets(text: string): number[] {
  const offsets = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) offsets.push(at + 1);
  return offsets;
}
