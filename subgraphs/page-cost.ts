/**
 * The directive of a field that answers a page: its `limit` says how many there are of these of its fields, `assumed` where
 * it is left out. A query is refused by what it may cost at most (gateway/graph), which is reckoned by this.
 */
export function pageByLimit(assumed: number, ...fields: readonly string[]): string {
  const sized = fields.map(field => `"${field}"`).join(', ');
  return `@listSize(assumedSize: ${assumed}, slicingArguments: ["limit"], sizedFields: [${sized}], requireOneSlicingArgument: false)`;
}
