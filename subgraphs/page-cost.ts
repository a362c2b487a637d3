/**
 * Directive of a field that returns a page. Its argument `limit` is the number of items in each of these fields; without it, `assumed` is.
 * The maximum cost of a query, by which it may be refused (gateway/graph), is computed from this.
 */
export function pageByLimit(assumed: number, ...fields: readonly string[]): string {
  const sized = fields.map(field => `"${field}"`).join(', ');
  return `@listSize(assumedSize: ${assumed}, slicingArguments: ["limit"], sizedFields: [${sized}], requireOneSlicingArgument: false)`;
}

/** Directive of a field with text of variable length. Its weight is that length, because each alias repeats it. */
export function costOfText(chars_max: number): string {
  return `@cost(weight: ${Math.ceil(chars_max / TEXT_CHARS_PER_COST)})`;
}
const TEXT_CHARS_PER_COST = 100;
