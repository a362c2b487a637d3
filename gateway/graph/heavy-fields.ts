import type { GraphQLCompositeType, GraphQLField } from 'graphql';

/**
 * Fields that GraphQL takes for one and that are as long as a list, or a read of their own: under a hundred names one page
 * would answer with hundreds of megabytes. By coordinate, in fields of the usual kind.
 */
const heavyFields: Readonly<Record<string, number>> = {
  /** Up to 200 intents with 200 attempts each, kept at hand as text. */
  'Book.intents': 2_000,
  /** Up to 200 events, read row by row. */
  'BookRow.replayEvents': 20,
  'BookRow.inflowCorrections': 5,
  /** All of a receipt, made anew each time. */
  'Receipt.document': 10,
  'Receipt.preimage': 5,
};

/** What completing the field itself costs; one unless the table says more. */
export function weightOf(
  parent: GraphQLCompositeType | undefined,
  field: GraphQLField<unknown, unknown> | undefined,
): number {
  return (parent && field && heavyFields[`${parent.name}.${field.name}`]) ?? 1;
}
