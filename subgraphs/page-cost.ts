/**
 * Directive of a field that returns a page. The field's argument `limit` is the number of items in each of `fields`; without the argument,
 * the number is `assumed`. The maximum cost of a query, by which it may be refused (gateway/graph), is computed from this.
 */
export function pageByLimit(assumed: number, ...fields: readonly string[]): string {
  const sized = fields.map(field => `"${field}"`).join(', ');
  return `@listSize(assumedSize: ${assumed}, slicingArguments: ["limit"], sizedFields: [${sized}], requireOneSlicingArgument: false)`;
}

/**
 * Directive of a field with text of variable length. Its weight grows with the length, because a query can repeat the text with aliases.
 */
export function costOfText(chars_max: number): string {
  return `@cost(weight: ${Math.ceil(chars_max / TEXT_CHARS_PER_COST)})`;
}
const TEXT_CHARS_PER_COST = 100;
