import {
  buildASTSchema,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type ValidationContext,
  type ValidationRule,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { Refusal } from '../../schema/errors.ts';
import { parsedSupergraph } from '../../schema/supergraph.ts';
import { fieldsIn, fragmentsOf } from './fragments.ts';

/*
 * Reads a composed supergraph without Apollo's libraries: the client schema, and the directives of its fields. Apollo's own reading is
 * needed only for plans, and takes ten times as long.
 */

/**
 * The schema that clients see: without the definitions of linked specifications (https://specs.apollo.dev/link/v1.0) and without
 * `@inaccessible` fields. Its AST nodes keep the directives of their fields, for `directiveOf`. Printed text does not contain them.
 */
export function publicSchema(supergraph: string): GraphQLSchema {
  const document = parsedSupergraph(supergraph);
  const isLinked = linkedBy(document);
  const definitions = accessible(document).definitions.filter(definition => !isLinked(definition));
  // The supergraph was validated at composition, and a test compares the committed supergraph with a new composition.
  return buildASTSchema({ ...document, definitions }, { assumeValid: true, assumeValidSDL: true });
}

/** Arguments of a supergraph directive on a field. Null if the field does not have the directive. */
function directiveOf({ astNode }: AnyField, directive: string): Readonly<Record<string, unknown>> | null {
  const mark = astNode?.directives?.find(({ name }) => name.value === directive);
  return mark ? argumentsOf(mark) : null;
}

/** All fields of objects and interfaces that clients see, with their coordinates. */
function fieldsOf(schema: GraphQLSchema): { readonly coordinate: string; readonly field: AnyField }[] {
  const types = Object.values(schema.getTypeMap()).filter(type => isObjectType(type) || isInterfaceType(type));
  return types
    .filter(type => !isIntrospectionType(type))
    .flatMap(type =>
      Object.values(type.getFields()).map(field => ({ coordinate: `${type.name}.${field.name}`, field })),
    );
}

type AnyField = GraphQLField<unknown, unknown>;

function argumentsOf({ arguments: given = [] }: ConstDirectiveNode): Record<string, unknown> {
  return Object.fromEntries(given.map(({ name, value }) => [name.value, valueFromASTUntyped(value)]));
}

interface Link {
  readonly url?: string;
  readonly as?: string;
  readonly import?: readonly (string | { readonly name: string; readonly as?: string })[];
}

/** Whether a definition belongs to a linked specification: by its name, its prefix or an import. */
function linkedBy({ definitions }: DocumentNode): (definition: DefinitionNode) => boolean {
  const links = definitions
    .flatMap(definition => (definition.kind === Kind.SCHEMA_DEFINITION ? (definition.directives ?? []) : []))
    .filter(({ name }) => name.value === 'link')
    .map(link => argumentsOf(link) as Link);
  const names = links.map(({ as, url = '' }) => as ?? url.split('/').at(-2) ?? '');
  const imported = links.flatMap(({ import: some = [] }) =>
    some.map(one => (typeof one === 'string' ? one : (one.as ?? one.name))),
  );
  const is = (name: string) => names.some(prefix => name === prefix || name.startsWith(`${prefix}__`));
  return definition => {
    if (!('name' in definition) || !definition.name) return false;
    const { kind, name } = definition;
    const directive = kind === Kind.DIRECTIVE_DEFINITION;
    // A type of this project may have the name of a specification in another case, so a type counts only with `__` in its name.
    return directive
      ? is(name.value) || imported.includes(`@${name.value}`)
      : name.value.includes('__') && is(name.value);
  };
}

function accessible(document: DocumentNode): DocumentNode {
  return visit(document, {
    enter: node =>
      'directives' in node && node.directives?.some(({ name }) => name.value === 'inaccessible') ? null : undefined,
  });
}

/** Names of the root fields that cost money, with their price in atomic USDC. */
export type PaidFields = ReadonlyMap<string, string>;

/** Reads `@paid(price:)` from the client schema. @throws if it marks a query, because reading is free */
export function paidFields(schema: GraphQLSchema): PaidFields {
  const paying = [schema.getMutationType()?.name, schema.getSubscriptionType()?.name];
  const prices = fieldsOf(schema).flatMap(({ coordinate, field }) => {
    const paid = directiveOf(field, 'paid');
    if (paid === null) return [];
    if (!paying.includes(coordinate.split('.')[0]))
      throw new Error('@paid may mark fields of Mutation and Subscription only');
    return [[field.name, String(paid.price)] as const];
  });
  return new Map(prices);
}

/** Coordinate of an operation's paid root field, also within fragments. Null if it has none. */
export function paidField(
  document: DocumentNode,
  { operation, selectionSet }: OperationDefinitionNode,
  paid: PaidFields,
): string | null {
  if (operation === 'query') return null;
  const field = fieldsIn(selectionSet, fragmentsOf(document)).find(({ name }) => paid.has(name.value));
  return field ? `${operation === 'mutation' ? 'Mutation' : 'Subscription'}.${field.name.value}` : null;
}

/**
 * Rule that an operation with a paid field has exactly that root field, once. Otherwise one signature would pay for two effects, or a free
 * field would be part of a replayed response.
 */
export function paidFieldStandsAlone(paid: PaidFields): ValidationRule {
  return (context: ValidationContext) => ({
    OperationDefinition(operation) {
      const document = context.getDocument();
      if (paidField(document, operation, paid) === null) return;
      if (fieldsIn(operation.selectionSet, fragmentsOf(document)).length === 1) return;
      context.reportError(
        new Refusal('invalid_request', { detail: 'A paid field must be the only root field of its operation.' }),
      );
    },
  });
}

/** How the events of a field are numbered: see `@live` in subgraphs/subgraph.ts. */
export interface LiveField {
  /** Name of the argument for the position of the last event that the reader has. */
  readonly after: string;
  /** Name of the field that contains the position of an event. */
  readonly position: string;
  /** Whether an executed event may be kept for readers that come slightly later. */
  readonly remembered: boolean;
}

/** Names of the subscription fields whose execution can be shared. */
export type LiveFields = ReadonlyMap<string, LiveField>;

/** Reads `@live` from the client schema. @throws if it marks a paid field, because a purchase is not shared */
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

/** Cost of a field, from Federation's `@cost` and `@listSize` (https://specs.apollo.dev/cost/v0.1). */
interface FieldCost {
  /** `@cost(weight:)`. It is 1 unless the field is as expensive as a list or a separate query. */
  readonly weight: number;
  /** `@listSize(assumedSize:)` of a list. `page` if an argument of the enclosing field sets the length. Null if it is not stated. */
  readonly size: number | 'page' | null;
  /** `@listSize(slicingArguments:, sizedFields:)`: the length of the pages directly inside this field. */
  readonly page: Page | null;
}

export interface Page {
  /** Names of the arguments that can set the number of rows. */
  readonly arguments: readonly string[];
  readonly rows_default: number;
}

/** Costs of fields by coordinate. A field that is missing here costs 1. */
type FieldCosts = ReadonlyMap<string, FieldCost>;

/** The public graph and the costs of its fields. */
export interface PricedGraph {
  readonly schema: GraphQLSchema;
  readonly costs: FieldCosts;
}

interface ListSize {
  readonly assumedSize?: number;
  readonly slicingArguments?: readonly string[];
  readonly sizedFields?: readonly string[];
}

/** Reads `@cost` and `@listSize` from the client schema. @throws if a page has no argument for its length, or no default */
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

/** Coordinates of the lists inside a field whose length the field's own arguments set. */
function pagesIn(field: AnyField): string[] {
  const names = (directiveOf(field, 'listSize') as ListSize | null)?.sizedFields ?? [];
  return names.map(name => `${getNamedType(field.type).name}.${name}`);
}

function pageOf(coordinate: string, { assumedSize, slicingArguments = [] }: ListSize): Page {
  if (slicingArguments.length === 0 || assumedSize === undefined)
    throw new Error(`@listSize of ${coordinate} must name an argument, and a size where none is given`);
  return { arguments: slicingArguments, rows_default: assumedSize };
}
