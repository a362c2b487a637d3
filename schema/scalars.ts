import { GraphQLError, GraphQLScalarType, Kind, type ValueNode } from 'graphql';
import { GraphQLDateTimeISO } from 'graphql-scalars';
import { type AtomicAmount, parseAtomic } from './amount.ts';
import { FOUR_DIGITS, isOfFourDigits } from './moment.ts';

/* Scalars of the graph for amounts and times: text outside, bigint and Date inside. */

function parse(value: unknown): AtomicAmount {
  const amount = typeof value === 'string' ? parseAtomic(value) : null;
  if (amount === null) throw new GraphQLError('an amount is a decimal string of atomic units');
  return amount;
}

/** Money on the graph: bigint inside, a decimal string of digits outside. JSON numbers are refused: they are floats. */
export const AtomicAmountScalar = new GraphQLScalarType<AtomicAmount, string>({
  name: 'AtomicAmount',
  description: 'Atomic units as a decimal string of digits (USDC: 6 decimals).',
  serialize: value => String(value),
  parseValue: parse,
  parseLiteral: node => parse(node.kind === Kind.STRING ? node.value : null),
});

function keepable(moment: Date): Date {
  if (!isOfFourDigits(moment)) throw new GraphQLError(`a moment ${FOUR_DIGITS}`);
  return moment;
}

/** A time on the graph: Date inside, RFC 3339 outside, always in UTC with milliseconds. */
export const DateTimeScalar = new GraphQLScalarType<Date, string>({
  ...GraphQLDateTimeISO.toConfig(),
  parseValue: value => keepable(GraphQLDateTimeISO.parseValue(value)),
  parseLiteral: (node: ValueNode) => keepable(GraphQLDateTimeISO.parseLiteral(node)),
  name: 'DateTime',
  description: 'A moment by RFC 3339, such as `2026-01-31T10:15:30.000Z`; answers are in UTC, with milliseconds.',
});
