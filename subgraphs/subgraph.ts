import 'reflect-metadata';
import { buildSubgraphSchema } from '@apollo/subgraph';
import type { GraphQLResolverMap } from '@apollo/subgraph/dist/schema-helper/resolverMap.js';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { type GraphQLResolveInfo, type GraphQLSchema, parse } from 'graphql';
import { type BuildSchemaOptions, buildSchema, createResolversMap } from 'type-graphql';

/** One subgraph, ready to be composed (`sdl`) and to be executed in this process (`schema`). */
export interface Subgraph {
  readonly name: string;
  readonly schema: GraphQLSchema;
  readonly sdl: string;
}

/** Loads an entity by its key (`__resolveReference`); null where there is none. */
export type ResolveReference = (reference: never, context: never, info: GraphQLResolveInfo) => unknown;

export interface SubgraphParts {
  readonly resolvers: BuildSchemaOptions['resolvers'];
  /** Types that only a reference or a union reaches. TypeGraphQL's store is global: what is not listed belongs to others. */
  readonly orphanedTypes?: BuildSchemaOptions['orphanedTypes'];
}

/**
 * `@paid` is composed into the supergraph, so that the gateway knows the paid fields of remote subgraphs too.
 * It marks root fields only; `price` is in atomic USDC.
 */
const HEADER = `extend schema
  @link(
    url: "https://specs.apollo.dev/federation/v2.9"
    import: ["@key", "@shareable", "@external", "@requires", "@provides", "@inaccessible", "@composeDirective"]
  )
  @link(url: "https://svc.example/paid/v1.0", import: ["@paid"])
  @composeDirective(name: "@paid")

directive @paid(price: String!) on FIELD_DEFINITION

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
  parts: SubgraphParts,
  references: Readonly<Record<string, ResolveReference>> = {},
): Promise<Subgraph> {
  const plain = await buildSchema({ ...parts, validate: false, pubSub: noPubSub });
  const sdl = HEADER + printSchemaWithDirectives(plain);
  const resolvers: Record<string, object> = createResolversMap(plain);
  for (const [type, resolve] of Object.entries(references)) {
    resolvers[type] = { ...resolvers[type], __resolveReference: resolve };
  }
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: resolvers as GraphQLResolverMap<unknown> });
  return { name, sdl, schema };
}
