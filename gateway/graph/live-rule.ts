import type { GraphQLSchema } from 'graphql';
import type { PaidFields } from './paid-rule.ts';
import { directiveOf } from './supergraph.ts';

/** How the events of a field are numbered: see `@live` in subgraphs/subgraph.ts. */
export interface LiveField {
  /** The argument that names the last event that the reader has. */
  readonly after: string;
  /** The field of an event that holds its number. */
  readonly position: string;
  /** Whether an event may be kept as it was executed, for whoever comes a little late. */
  readonly remembered: boolean;
}

/** Names of the subscription fields of which one execution may serve many. */
export type LiveFields = ReadonlyMap<string, LiveField>;

/** Reads `@live` off what clients see. @throws where it marks a paid field: what one bought is nobody else's. */
export function liveFields(schema: GraphQLSchema, paid: PaidFields): LiveFields {
  const live = new Map<string, LiveField>();
  for (const field of Object.values(schema.getSubscriptionType()?.getFields() ?? {})) {
    const mark = directiveOf(field, 'live');
    if (mark === null) continue;
    if (paid.has(field.name)) throw new Error(`@live may not mark what is @paid: ${field.name}`);
    const { after, position, remembered = true } = mark;
    live.set(field.name, { after: String(after), position: String(position), remembered: remembered !== false });
  }
  return live;
}
