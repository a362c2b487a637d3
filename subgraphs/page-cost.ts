/**
 * The directive of a field that answers a page: its `limit` says how many there are of these of its fields, `assumed` where
 * it is left out. A query is refused by what it may cost at most (gateway/graph), which is reckoned by this.
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
