/**
 * Adds up the cost of a document before it is validated, planned or executed, and refuses one that is too expensive.
 */
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  getNamedType,
  isCompositeType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { limits } from '../../schema/limits.ts';
import { cyclicFragment, type Fragments, fragmentsOf, repeatedNames } from './fragments.ts';
import type { Page, PricedGraph } from './supergraph.ts';

/** The limits by the names that refusals use. */
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

type CostLimit = keyof typeof most;

export type CostVerdict =
  | { readonly kind: 'within' }
  | { readonly kind: 'cyclic'; readonly fragment: string }
  | { readonly kind: 'exceeded'; readonly limit: CostLimit; readonly found: number };

const WITHIN: CostVerdict = { kind: 'within' };

/** The variables of the request. `most` and `least` are the variables that cost most and least. */
export type GivenVariables = Readonly<Record<string, unknown>> | 'most' | 'least';

/**
 * Whether the shape of a document permits the further checks. It takes linear time, which some of GraphQL's own rules do not; a refusal
 * costs about as much as parsing.
 */
export function judgeShape(document: DocumentNode): CostVerdict {
  const operations = document.definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
  const counted = firstExceeded({ operations, fragments: document.definitions.length - operations });
  if (counted.kind !== 'within') return counted;
  const fragment = cyclicFragment(fragmentsOf(document));
  return fragment === null ? WITHIN : { kind: 'cyclic', fragment };
}

/**
 * Whether the cost of a document is within the limits, with every row of every list counted. Its shape must have been found within the
 * limits before.
 */
export function judgeCost(document: DocumentNode, priced: PricedGraph, variables: GivenVariables): CostVerdict {
  const scale = new Scale(document, priced, variables);
  const fragments = fragmentsOf(document);
  for (const definition of document.definitions) {
    const executed = definition.kind === Kind.OPERATION_DEFINITION;
    // Every operation is counted, because an operation that is not selected is validated too.
    if (!executed && definition.kind !== Kind.FRAGMENT_DEFINITION) continue;
    const weight = executed ? scale.ofOperation(definition) : scale.ofFragment(definition.name.value);
    const { depth, width, aliases, directives, fields, cost } = weight;
    const of_operation = executed ? { root_fields: width, cost } : {};
    const weighed = firstExceeded({ depth, ...of_operation, aliases, directives, fields });
    if (weighed.kind !== 'within') return weighed;
    // Repeated names are counted by following fragments at each spread, so they are counted only after the document was found to be small.
    const repeated = firstExceeded({ repeated_fields: repeatedNames(definition.selectionSet, fragments) });
    if (repeated.kind !== 'within') return repeated;
  }
  return WITHIN;
}

function firstExceeded(found: Partial<Record<CostLimit, number>>): CostVerdict {
  for (const limit of Object.keys(most) as CostLimit[]) {
    const count = found[limit] ?? 0;
    if (count > most[limit]) return { kind: 'exceeded', limit, found: Math.min(count, Number.MAX_SAFE_INTEGER) };
  }
  return WITHIN;
}

/** The refusal of a document. Null if it is within the limits. */
export function costRefusal(verdict: CostVerdict): Refusal | null {
  if (verdict.kind === 'within') return null;
  if (verdict.kind === 'cyclic')
    return new Refusal('invalid_request', { detail: `Fragment "${verdict.fragment}" spreads itself.` });
  const { limit, found } = verdict;
  return new Refusal('query_too_costly', {
    detail: `The document has ${limit} of ${found}; the most is ${most[limit]}.`,
    facts: { limit, found, max: most[limit] },
  });
}

/** The cost of a selection, with every fragment counted at each spread. A number may grow to Infinity but never wraps. */
export interface Weight {
  /** Depth of nested selection sets, fragments included. */
  readonly depth: number;
  readonly fields: number;
  /** Number of fields in the selection set itself, without nested sets. */
  readonly width: number;
  readonly aliases: number;
  readonly directives: number;
  /** Number of fields that one execution completes outside the rows of a page. `cost_per_row` is the number for each row. */
  readonly cost: number;
  readonly cost_per_row: number;
}

const nothing: Weight = { depth: 0, fields: 0, width: 0, aliases: 0, directives: 0, cost: 0, cost_per_row: 0 };

/**
 * Weighs the operations and fragments of a document in linear time. Each fragment is weighed once, however often it is spread, so n
 * fragments that each spread the next one twice do not take 2^n steps. The document must have no cycle of fragments.
 */
export class Scale {
  readonly #priced: PricedGraph;
  readonly #variables: GivenVariables;
  readonly #fragments: Fragments;
  readonly #weighed = new Map<string, Weight>();

  constructor(document: DocumentNode, priced: PricedGraph, variables: GivenVariables) {
    this.#priced = priced;
    this.#variables = variables;
    this.#fragments = fragmentsOf(document);
  }

  ofOperation({ operation, selectionSet, directives = [] }: OperationDefinitionNode): Weight {
    const weight = this.#ofSet(selectionSet, this.#priced.schema.getRootType(operation) ?? undefined);
    const rows = limits.book_page_rows_default * weight.cost_per_row;
    const cost = weight.cost + rows + weight.width * limits.graphql_root_field_cost;
    return { ...weight, directives: weight.directives + directives.length, cost };
  }

  ofFragment(name: string): Weight {
    const known = this.#weighed.get(name);
    if (known) return known;
    const fragment = this.#fragments.get(name);
    // An unknown fragment costs nothing here, because GraphQL's validation refuses it.
    if (!fragment) return nothing;
    const weight = this.#ofSet(fragment.selectionSet, this.#typeNamed(fragment.typeCondition.name.value));
    const whole = { ...weight, directives: weight.directives + (fragment.directives?.length ?? 0) };
    this.#weighed.set(name, whole);
    return whole;
  }

  #ofSet({ selections }: SelectionSetNode, parent: GraphQLCompositeType | undefined): Weight {
    const all: { -readonly [K in keyof Weight]: number } = { ...nothing };
    for (const node of selections) {
      const one = this.#ofNode(node, parent);
      all.depth = Math.max(all.depth, one.depth);
      all.fields += one.fields;
      all.width += one.width;
      all.aliases += one.aliases;
      all.directives += one.directives + (node.directives?.length ?? 0);
      all.cost += one.cost;
      all.cost_per_row += one.cost_per_row;
    }
    all.depth += 1;
    return all;
  }

  #ofNode(node: SelectionNode, parent: GraphQLCompositeType | undefined): Weight {
    if (node.kind === Kind.FIELD) return this.#ofField(node, parent);
    if (node.kind === Kind.FRAGMENT_SPREAD) return this.ofFragment(node.name.value);
    const condition = node.typeCondition;
    return this.#ofSet(node.selectionSet, condition ? this.#typeNamed(condition.name.value) : parent);
  }

  #ofField(node: FieldNode, parent: GraphQLCompositeType | undefined): Weight {
    const field = parent && fieldOf(parent, node.name.value);
    const {
      weight = 1,
      size: said = null,
      page = null,
    } = this.#priced.costs.get(`${parent?.name}.${field?.name}`) ?? {};
    const type = field && getNamedType(field.type);
    const inside = node.selectionSet
      ? this.#ofSet(node.selectionSet, isCompositeType(type) ? type : undefined)
      : nothing;
    const size = parent && field && node.selectionSet ? (said ?? listSize(parent, field)) : 1;
    const each = weight + inside.cost + requestedRows(node, page, this.#variables) * inside.cost_per_row;
    return {
      ...inside,
      fields: inside.fields + 1,
      width: 1,
      aliases: inside.aliases + (node.alias ? 1 : 0),
      cost: size === 'page' ? 1 : size * each,
      cost_per_row: size === 'page' ? each : 0,
    };
  }

  #typeNamed(name: string): GraphQLCompositeType | undefined {
    const type = this.#priced.schema.getType(name);
    return isCompositeType(type) ? type : undefined;
  }
}

function fieldOf(parent: GraphQLCompositeType, name: string): GraphQLField<unknown, unknown> | undefined {
  if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
  if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
  return 'getFields' in parent ? parent.getFields()[name] : undefined;
}

/** Assumed size of a list of objects without `@listSize`. Only introspection has such lists, which a test checks. */
function listSize(parent: GraphQLCompositeType, field: GraphQLField<unknown, unknown>): number {
  const type = isNonNullType(field.type) ? field.type.ofType : field.type;
  if (!isListType(type) || !isCompositeType(getNamedType(type))) return 1;
  if (!isIntrospectionType(parent)) return 20;
  return parent.name === '__Schema' && field.name === 'types' ? 50 : 2;
}

/**
 * Number of rows of a page inside a field: the value of the field's argument, limited as for a page. `@listSize` cannot express that limit.
 */
function requestedRows(node: FieldNode, page: Page | null, variables: GivenVariables): number {
  const rows_default = page?.rows_default ?? limits.book_page_rows_default;
  const given = node.arguments?.filter(({ name }) => page?.arguments.includes(name.value)) ?? [];
  const asked = given.map(({ value }) => valueIn(value, variables)).filter(rows => rows !== null);
  if (asked.length === 0) return rows_default;
  const rows = asked.every(it => typeof it === 'number') ? Math.max(...asked) : undefined;
  // A value that is not a number is refused by its type. A number out of range is clamped, as it is for the page.
  return typeof rows === 'number' ? Math.min(Math.max(rows, 1), limits.book_page_rows_max) : limits.book_page_rows_max;
}

function valueIn(value: ValueNode, variables: GivenVariables): unknown {
  if (value.kind === Kind.INT) return Number(value.value);
  if (value.kind === Kind.NULL) return null;
  if (value.kind !== Kind.VARIABLE || variables === 'most') return undefined;
  if (variables === 'least') return 1;
  const name = value.name.value;
  // If the variable is omitted, its default applies, which may be any value.
  return Object.hasOwn(variables, name) ? variables[name] : undefined;
}
