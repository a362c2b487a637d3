import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { type AtomicAmount, parseAtomic } from './amount.ts';

/* The scalar of amounts on the graph: a decimal string of digits outside, bigint inside. */

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
