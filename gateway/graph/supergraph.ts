import {
  buildASTSchema,
  type ConstDirectiveNode,
  type DefinitionNode,
  type DocumentNode,
  type GraphQLField,
  type GraphQLSchema,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  Kind,
  valueFromASTUntyped,
  visit,
} from 'graphql';
import { parsedSupergraph } from '../../schema/supergraph.ts';

/*
 * A supergraph as it was composed, read without Apollo's libraries: what clients see of it, and what the subgraphs say of
 * its fields. Apollo's own reading of it is wanted for plans alone, takes ten times as long, and can wait.
 */

/**
 * The schema that clients see: without the definitions of what is linked (https://specs.apollo.dev/link/v1.0), and without
 * what is `@inaccessible`. Its nodes keep the directives of their fields, for `directiveOf`; no text that is made of it shows them.
 */
export function publicSchema(supergraph: string): GraphQLSchema {
  const document = parsedSupergraph(supergraph);
  const isLinked = linkedBy(document);
  const definitions = accessible(document).definitions.filter(definition => !isLinked(definition));
  // It was validated when it was composed, and a test holds the committed one to what composition makes.
  return buildASTSchema({ ...document, definitions }, { assumeValid: true, assumeValidSDL: true });
}

/** What a directive of the supergraph says of a field, by argument; null where it does not mark the field. */
export function directiveOf({ astNode }: AnyField, directive: string): Readonly<Record<string, unknown>> | null {
  const mark = astNode?.directives?.find(({ name }) => name.value === directive);
  return mark ? argumentsOf(mark) : null;
}

/** Every field of an object or interface that clients see, with its coordinate. */
export function fieldsOf(schema: GraphQLSchema): { readonly coordinate: string; readonly field: AnyField }[] {
  const types = Object.values(schema.getTypeMap()).filter(type => isObjectType(type) || isInterfaceType(type));
  return types
    .filter(type => !isIntrospectionType(type))
    .flatMap(type =>
      Object.values(type.getFields()).map(field => ({ coordinate: `${type.name}.${field.name}`, field })),
    );
}

export type AnyField = GraphQLField<unknown, unknown>;

function argumentsOf({ arguments: given = [] }: ConstDirectiveNode): Record<string, unknown> {
  return Object.fromEntries(given.map(({ name, value }) => [name.value, valueFromASTUntyped(value)]));
}

interface Link {
  readonly url?: string;
  readonly as?: string;
  readonly import?: readonly (string | { readonly name: string; readonly as?: string })[];
}

/** Whether a definition belongs to a specification that the supergraph links: by its name, by its prefix or by import. */
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
    // A type may well be called as a specification is, but for its case.
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
