import type { SubgraphAddition } from '../../subgraph.ts';
import { EnvelopeResolver } from './envelope.resolver.ts';

/** The parts that envelopes add to the subgraph of receipts. They need no tables. */
export const envelopesAddition: SubgraphAddition = { entities: [], migrations: [], resolvers: [EnvelopeResolver] };
