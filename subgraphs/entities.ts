import { entitiesField } from '@apollo/subgraph/dist/types.js';
import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLResolveInfo,
  GraphQLSchema,
  GraphQLUnionType,
  isObjectType,
} from 'graphql';

/** Loads an entity by its key (`__resolveReference`). Null if no entity has this key. */
export type ResolveReference = (reference: never, context: never, info: GraphQLResolveInfo) => unknown;

/**
 * Adds the root field `_entities` to the schema of a subgraph. A gateway uses it to read this subgraph's fields of objects that other
 * subgraphs return (https://www.apollographql.com/docs/graphos/schema-design/federated-schemas/reference/subgraph-spec, `Query._entities`).
 * Apollo's `buildSubgraphSchema` adds the field only to a schema that it builds from text, but printing, parsing and validating took most
 * of the startup time.
 */
export function withEntities(
  plain: GraphQLSchema,
  references: Readonly<Record<string, ResolveReference>>,
): GraphQLSchema {
  const types = Object.values(plain.getTypeMap());
  const entities = types.filter(isObjectType).filter(hasKey);
  const [query, ...others] = [plain.getQueryType(), plain.getMutationType(), plain.getSubscriptionType()];
  if (!query || entities.length === 0) return plain;
  for (const entity of entities) {
    const resolveReference = references[entity.name];
    if (resolveReference) entity.extensions = { ...entity.extensions, apollo: { subgraph: { resolveReference } } };
  }
  const entity = new GraphQLUnionType({
    name: '_Entity',
    types: entities,
    resolveType: ({ __typename }) => __typename,
  });
  const _entities = { ...entitiesField, type: new GraphQLNonNull(new GraphQLList(entity)) };
  const { fields, ...rest } = query.toConfig();
  const [mutation, subscription] = others;
  return new GraphQLSchema({
    ...plain.toConfig(),
    query: new GraphQLObjectType({ ...rest, fields: { ...fields, _entities } }),
    mutation,
    subscription,
    types: [...types.filter(type => type !== query), entity],
    // Composition has already validated the schema.
    assumeValid: true,
  });
}

/** Whether the type has Federation's `@key`, which marks an object type of which other subgraphs may have fields. */
function hasKey({ astNode }: GraphQLObjectType): boolean {
  return astNode?.directives?.some(({ name }) => name.value === 'key') ?? false;
}
