import type { SubgraphAddition } from '../../subgraph.ts';
import { EnvelopeResolver } from './envelope.resolver.ts';

/** What envelopes add to receipts: no tables. */
export const envelopesAddition: SubgraphAddition = { entities: [], migrations: [], resolvers: [EnvelopeResolver] };
