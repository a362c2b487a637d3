import 'reflect-metadata';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { GraphQLResolverMap } from '@apollo/subgraph/dist/schema-helper/resolverMap.js';
import { MapperKind, mapSchema, printSchemaWithDirectives } from '@graphql-tools/utils';
import {
  type GraphQLFieldConfig,
  type GraphQLFieldResolver,
  GraphQLNonNull,
  type GraphQLResolveInfo,
  GraphQLScalarType,
  type GraphQLSchema,
  lexicographicSortSchema,
  parse,
} from 'graphql';
import { type BuildSchemaOptions, buildSchema, createResolversMap } from 'type-graphql';
import type { Written } from '../schema/written.ts';

/** One subgraph, ready to be composed (`sdl`) and to be executed in this process (`schema`). */
export interface Subgraph {
  readonly name: string;
  readonly schema: GraphQLSchema;
  /** The same where what Postgres can write is a leaf: for whoever takes parts of an answer as text. */
  readonly written: GraphQLSchema;
  readonly sdl: string;
}

/** Loads an entity by its key (`__resolveReference`); null where there is none. */
export type ResolveReference = (reference: never, context: never, info: GraphQLResolveInfo) => unknown;

/** `Type.field` → that field as JSON text, all of what is selected beneath it. Errors and nulls as its resolvers have them. */
export type WrittenFields = Readonly<Record<`${string}.${string}`, WriteField>>;
type WriteField = (root: never, context: never, info: GraphQLResolveInfo) => Written | Promise<Written>;

export interface SubgraphParts {
  readonly resolvers: BuildSchemaOptions['resolvers'];
  /** Types that only a reference or a union reaches. TypeGraphQL's store is global: what is not listed belongs to others. */
  readonly orphanedTypes?: BuildSchemaOptions['orphanedTypes'];
  readonly written?: WrittenFields;
}

/**
 * `@paid` is composed into the supergraph, so that the gateway knows the paid fields of remote subgraphs too.
 * It marks root fields only; `price` is in atomic USDC.
 *
 * So is `@live`: a subscription field of which one execution may serve all who ask for the same. Its events are numbered
 * without gaps by the field named by `position`, and the argument named by `after` says which one was the last that the
 * reader has: null takes only what is new, a negative number counts from the newest (-1 starts with that one). Whatever
 * else its events depend on must be in the document, the variables or the principal. `remembered: false` where an old
 * event may show less today than it did: then none is kept for whoever comes late, who has it executed anew.
 *
 * `@cost` and `@listSize` are Federation's own: the gateway reads them in gateway/graph/field-costs.ts.
 */
const HEADER = `extend schema
  @link(
    url: "https://specs.apollo.dev/federation/v2.9"
    import: [
      "@key", "@shareable", "@external", "@requires", "@provides", "@inaccessible", "@composeDirective", "@cost", "@listSize"
    ]
  )
  @link(url: "https://svc.example/paid/v1.0", import: ["@paid"])
  @composeDirective(name: "@paid")
  @link(url: "https://svc.example/live/v1.0", import: ["@live"])
  @composeDirective(name: "@live")

directive @paid(price: String!) on FIELD_DEFINITION
directive @live(after: String!, position: String!, remembered: Boolean! = true) on FIELD_DEFINITION

`;

/** TypeGraphQL wants one as soon as a subscription exists, although each of ours brings its own `subscribe`. */
const noPubSub: BuildSchemaOptions['pubSub'] = {
  publish() {},
  subscribe() {
    throw new Error('a subscription field must name its own `subscribe`');
  },
};

/**
 * TypeGraphQL classes → a Federation 2 subgraph. Arguments are validated by the schemas in schema/requests, not here.
 * `printSubgraphSchema` cannot print a TypeGraphQL schema; printing with directives and adding the `@link` can.
 */
export async function buildSubgraph(
  name: string,
  { written = {}, ...parts }: SubgraphParts,
  references: Readonly<Record<string, ResolveReference>> = {},
): Promise<Subgraph> {
  // Whether it is a right schema is found out below, when the subgraph's is built of it.
  const plain = await buildSchema({ ...parts, validate: false, skipCheck: true, pubSub: noPubSub });
  // TypeGraphQL lists members as their classes happened to be imported: the text must not depend on who came first.
  const sdl = HEADER + printSchemaWithDirectives(lexicographicSortSchema(plain));
  const resolvers: Record<string, object> = createResolversMap(plain);
  for (const [type, resolve] of Object.entries(references)) {
    resolvers[type] = { ...resolvers[type], __resolveReference: resolve };
  }
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: resolvers as GraphQLResolverMap<unknown> });
  return { name, sdl, schema, written: withLeaves(schema, written) };
}

/** Execution takes a selection beneath a leaf for what the leaf's resolver makes of it: no document is rewritten. */
function withLeaves(schema: GraphQLSchema, written: WrittenFields): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.OBJECT_FIELD](field: GraphQLFieldConfig<unknown, unknown>, name, type) {
      const write = written[`${type}.${name}`];
      if (!write) return field;
      const resolve: GraphQLFieldResolver<never, never> = (root, _arguments, context, info) =>
        write(root, context, info);
      return { ...field, type: new GraphQLNonNull(WrittenJson), resolve } as typeof field;
    },
  });
}

const WrittenJson = new GraphQLScalarType<Written, Written>({
  name: 'WrittenJson',
  serialize: text => text as Written,
});
