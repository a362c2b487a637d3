import { baseType, type FieldDefinition, type Schema } from '@apollo/federation-internals';
import type { GraphQLSchema } from 'graphql';

/** By Federation's `@cost` and `@listSize` (https://specs.apollo.dev/cost/v0.1). */
export interface FieldCost {
  /** `@cost(weight:)`: one, unless the field is as long as a list or a read of its own. */
  readonly weight: number;
  /** `@listSize(assumedSize:)` of a list; `page`: as long as the field around it is asked for. Null: nobody says. */
  readonly size: number | 'page' | null;
  /** `@listSize(slicingArguments:, sizedFields:)`: how long the pages right within are. */
  readonly page: Page | null;
}

export interface Page {
  /** The arguments that say how many rows, whichever is given. */
  readonly arguments: readonly string[];
  readonly rows_default: number;
}

/** What the subgraphs say of their fields' costs, by coordinate; a field that is not in it costs one. */
export type FieldCosts = ReadonlyMap<string, FieldCost>;

/** The public graph, and what the subgraphs say of its fields. */
export interface PricedGraph {
  readonly schema: GraphQLSchema;
  readonly costs: FieldCosts;
}

interface ListSize {
  readonly assumedSize?: number;
  readonly slicingArguments?: readonly string[];
  readonly sizedFields?: readonly string[];
}

/** Reads both off the supergraph. @throws where a page's length is not said by arguments and a default. */
export function fieldCosts(supergraph: Schema): FieldCosts {
  const fields = [...supergraph.objectTypes(), ...supergraph.interfaceTypes()].flatMap(type => [...type.fields()]);
  const pages = new Set(fields.flatMap(pagesIn));
  const costs = new Map<string, FieldCost>();
  for (const field of fields) {
    const { weight = 1 } = marked<{ weight: number }>(field, 'cost') ?? {};
    const list = marked<ListSize>(field, 'listSize');
    const size = pages.has(field.coordinate) ? 'page' : list?.sizedFields ? null : (list?.assumedSize ?? null);
    const page = list?.sizedFields ? pageOf(field, list) : null;
    if (weight !== 1 || size !== null || page !== null) costs.set(field.coordinate, { weight, size, page });
  }
  return costs;
}

/** Coordinates of the lists within a field of which its own arguments say how long they are. */
function pagesIn(field: AnyField): string[] {
  const type = field.type && baseType(field.type);
  const names = marked<ListSize>(field, 'listSize')?.sizedFields ?? [];
  return names.map(name => `${type?.name}.${name}`);
}

function pageOf({ coordinate }: AnyField, { assumedSize, slicingArguments = [] }: ListSize): Page {
  if (slicingArguments.length === 0 || assumedSize === undefined)
    throw new Error(`@listSize of ${coordinate} must name an argument, and a size where none is given`);
  return { arguments: slicingArguments, rows_default: assumedSize };
}

function marked<T extends object>(field: AnyField, directive: 'cost' | 'listSize'): T | undefined {
  return field.appliedDirectives.find(({ name }) => name === directive)?.arguments() as T | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: of objects and interfaces alike, whose classes know their fields by name.
type AnyField = FieldDefinition<any>;
