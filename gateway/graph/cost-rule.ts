import { type DocumentNode, type GraphQLSchema, Kind } from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { fragmentsByName, Scale, type Weight } from './cost.ts';
import { cyclicFragment, repeatedNames } from './fragment-cycle.ts';
import type { Variables } from './list-sizes.ts';

/** What is limited, as a refusal names it. */
const most = {
  operations: limits.graphql_operations_max,
  fragments: limits.graphql_fragments_max,
  depth: limits.graphql_depth_max,
  root_fields: limits.graphql_root_fields_max,
  aliases: limits.graphql_aliases_max,
  directives: limits.graphql_directives_max,
  fields: limits.graphql_fields_max,
  repeated_fields: limits.graphql_repeated_fields_max,
  cost: limits.graphql_cost_max,
} as const;

type Limited = keyof typeof most;

export type Verdict =
  | { readonly kind: 'within' }
  | { readonly kind: 'cyclic'; readonly fragment: string }
  | { readonly kind: 'exceeded'; readonly limit: Limited; readonly found: number };

const WITHIN: Verdict = { kind: 'within' };

/**
 * Whether a document may be looked at any further: by what it is, before it is validated, planned or run. Linear in its
 * length, while some of GraphQL's own rules are not; what stops here has cost about what parsing it did.
 */
export function judgeShape(document: DocumentNode): Verdict {
  const fragments = fragmentsByName(document);
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  const counted = firstExceeded({ operations, fragments: document.definitions.length - operations });
  if (counted.kind !== 'within') return counted;
  const fragment = cyclicFragment(fragments);
  return fragment === null ? WITHIN : { kind: 'cyclic', fragment };
}

/** What it asks for, every row of every list counted. Wants a document whose shape is within. */
export function judgeCost(document: DocumentNode, schema: GraphQLSchema, variables: Variables): Verdict {
  const scale = new Scale(document, schema, variables);
  const fragments = fragmentsByName(document);
  for (const definition of document.definitions) {
    const executed = definition.kind === Kind.OPERATION_DEFINITION;
    // One that no operation spreads is validated too.
    if (!executed && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const weight = executed ? scale.ofOperation(definition) : scale.ofFragment(definition.name.value);
    const weighed = firstExceeded(measured(weight, executed));
    if (weighed.kind !== 'within') return weighed;
    // Walks what is spread wherever it is, which only now is known to be little.
    const repeated = firstExceeded({ repeated_fields: repeatedNames(definition.selectionSet, fragments) });
    if (repeated.kind !== 'within') return repeated;
  }
  return WITHIN;
}

function measured({ depth, width, aliases, directives, fields, cost }: Weight, executed: boolean) {
  return { depth, ...(executed ? { root_fields: width, cost } : {}), aliases, directives, fields };
}

function firstExceeded(found: Partial<Record<Limited, number>>): Verdict {
  for (const limit of Object.keys(most) as Limited[]) {
    const count = found[limit] ?? 0;
    if (count > most[limit]) return { kind: 'exceeded', limit, found: Math.min(count, Number.MAX_SAFE_INTEGER) };
  }
  return WITHIN;
}

/** Null where there is nothing to refuse. */
export function refusalOf(verdict: Verdict): Refusal | null {
  if (verdict.kind === 'within') return null;
  if (verdict.kind === 'cyclic')
    return new Refusal('invalid_request', { detail: `Fragment "${verdict.fragment}" spreads itself.` });
  const { limit, found } = verdict;
  return new Refusal('query_too_costly', {
    detail: `The document has ${limit} of ${found}; the most is ${most[limit]}.`,
    facts: { limit, found, max: most[limit] },
  });
}
