import { type GraphQLSchema, getNamedType } from 'graphql';
import { type AnyField, directiveOf, fieldsOf } from './supergraph.ts';

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

/** Reads both off what clients see. @throws where a page's length is not said by arguments and a default. */
export function fieldCosts(schema: GraphQLSchema): FieldCosts {
  const fields = fieldsOf(schema);
  const pages = new Set(fields.flatMap(({ field }) => pagesIn(field)));
  const costs = new Map<string, FieldCost>();
  for (const { coordinate, field } of fields) {
    const { weight = 1 } = (directiveOf(field, 'cost') ?? {}) as { weight?: number };
    const list = directiveOf(field, 'listSize') as ListSize | null;
    const size = pages.has(coordinate) ? 'page' : list?.sizedFields ? null : (list?.assumedSize ?? null);
    const page = list?.sizedFields ? pageOf(coordinate, list) : null;
    if (weight !== 1 || size !== null || page !== null) costs.set(coordinate, { weight, size, page });
  }
  return costs;
}

/** Coordinates of the lists within a field of which its own arguments say how long they are. */
function pagesIn(field: AnyField): string[] {
  const names = (directiveOf(field, 'listSize') as ListSize | null)?.sizedFields ?? [];
  return names.map(name => `${getNamedType(field.type).name}.${name}`);
}

function pageOf(coordinate: string, { assumedSize, slicingArguments = [] }: ListSize): Page {
  if (slicingArguments.length === 0 || assumedSize === undefined)
    throw new Error(`@listSize of ${coordinate} must name an argument, and a size where none is given`);
  return { arguments: slicingArguments, rows_default: assumedSize };
}
