import {
  type GraphQLFieldConfig,
  type GraphQLFieldResolver,
  GraphQLInterfaceType,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql';
import type { RawJson } from '../schema/json-text.ts';

/**
 * Functions that write a field (`Type.field`) as JSON text, with everything that is selected under it. Their errors and nulls are the same
 * as those of the field's resolvers.
 */
export type WrittenFields = Readonly<Record<`${string}.${string}`, WriteField>>;
type WriteField = (root: never, context: never, info: GraphQLResolveInfo) => RawJson | Promise<RawJson>;

/**
 * Makes the schema in which the fields that Postgres can write are leaves. The resolver of a leaf writes the selection under it, which
 * execution ignores, so that no document is rewritten. Types with fields are made again with the same resolvers; inputs, scalars and enums
 * are the same objects.
 */
export function withLeaves(schema: GraphQLSchema, written: WrittenFields): GraphQLSchema {
  if (Object.keys(written).length === 0) return schema;
  const made = new Map<string, GraphQLNamedType>();
  const anew = <T extends GraphQLNamedType>(type: T): T => (made.get(type.name) as T | undefined) ?? type;
  const typeOf = (type: GraphQLOutputType): GraphQLOutputType => {
    if (isNonNullType(type)) return new GraphQLNonNull(typeOf(type.ofType));
    return isListType(type) ? new GraphQLList(typeOf(type.ofType)) : anew(type);
  };
  const fieldsOf = (name: string, fields: Readonly<Record<string, GraphQLFieldConfig<unknown, unknown>>>) =>
    Object.fromEntries(
      Object.entries(fields).map(([field, config]) => {
        const write = written[`${name}.${field}`];
        return [field, write ? leaf(config, write) : { ...config, type: typeOf(config.type) }];
      }),
    );
  const types = Object.values(schema.getTypeMap()).filter(type => !isIntrospectionType(type));
  for (const type of types) {
    if (isObjectType(type)) {
      const { fields, interfaces, ...rest } = type.toConfig();
      const own = { interfaces: () => interfaces.map(anew), fields: () => fieldsOf(type.name, fields) };
      made.set(type.name, new GraphQLObjectType({ ...rest, ...own }));
    } else if (isInterfaceType(type)) {
      const { fields, interfaces, ...rest } = type.toConfig();
      const own = { interfaces: () => interfaces.map(anew), fields: () => fieldsOf(type.name, fields) };
      made.set(type.name, new GraphQLInterfaceType({ ...rest, ...own }));
    } else if (isUnionType(type)) {
      const { types: members, ...rest } = type.toConfig();
      made.set(type.name, new GraphQLUnionType({ ...rest, types: () => members.map(anew) }));
    }
  }
  const { query, mutation, subscription, ...rest } = schema.toConfig();
  return new GraphQLSchema({
    ...rest,
    query: query && anew(query),
    mutation: mutation && anew(mutation),
    subscription: subscription && anew(subscription),
    types: types.map(anew),
    // The original schema is valid.
    assumeValid: true,
  });
}

function leaf(config: GraphQLFieldConfig<unknown, unknown>, write: WriteField): GraphQLFieldConfig<unknown, unknown> {
  const resolve: GraphQLFieldResolver<never, never> = (root, _arguments, context, info) => write(root, context, info);
  return { ...config, type: new GraphQLNonNull(WrittenJson), resolve } as typeof config;
}

const WrittenJson = new GraphQLScalarType<RawJson, RawJson>({
  name: 'WrittenJson',
  serialize: text => text as RawJson,
});
