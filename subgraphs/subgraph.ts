import 'reflect-metadata';
import { printSchemaWithDirectives } from '@graphql-tools/utils';
import { type GraphQLSchema, lexicographicSortSchema } from 'graphql';
import { type BuildSchemaOptions, buildSchema } from 'type-graphql';
import { type ResolveReference, withEntities } from './entities.ts';
import type { MigrationClass } from './migration.ts';
import { withoutUnreadInputs } from './unread-input.ts';
import { type WrittenFields, withLeaves } from './written-leaves.ts';

/** One subgraph, ready to be composed (`sdl`) and to be executed in this process (`schema`). */
export interface Subgraph {
  readonly name: string;
  readonly schema: GraphQLSchema;
  /** The same, with what Postgres can serialise as leaves: for callers that take parts of an answer as text. */
  readonly written: GraphQLSchema;
  /** Printed on request: composition reads it, calls do not. */
  readonly sdl: string;
}

export interface SubgraphParts {
  readonly resolvers: BuildSchemaOptions['resolvers'];
  /** Types that only a reference or a union reaches. TypeGraphQL's store is global: what is not listed belongs to others. */
  readonly orphanedTypes?: BuildSchemaOptions['orphanedTypes'];
  readonly written?: WrittenFields;
}

/** What a feature beyond the specification adds to a subgraph. */
export interface SubgraphAddition {
  readonly entities: readonly (new () => object)[];
  /** They run after those of the subgraph. */
  readonly migrations: readonly MigrationClass[];
  readonly resolvers: AddedResolvers;
}

/** Classes of resolvers. */
export type AddedResolvers = readonly (new () => object)[];

/**
 * `@paid` is composed into the supergraph, so that the gateway knows the paid fields of remote subgraphs too. It marks
 * root fields only; `price` is in atomic USDC.
 *
 * So is `@live`: a subscription field of which one execution may serve all equal requests. Its events are numbered
 * without gaps by the field named by `position`, and the argument named by `after` is the last event that the reader
 * has: null takes only new ones, a negative number counts from the newest (-1 starts with it). Everything else that its
 * events depend on must be in the document, the variables or the principal. `remembered: false` if an old event may
 * show less today than before: then events are not kept for a late reader, who gets an execution of its own.
 *
 * `@cost` and `@listSize` are Federation's own: the gateway reads them in gateway/graph/supergraph.ts.
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

/** TypeGraphQL requires a pubSub as soon as a subscription exists, although each of ours has its own `subscribe`. */
const noPubSub: BuildSchemaOptions['pubSub'] = {
  publish() {},
  subscribe() {
    throw new Error('a subscription field must name its own `subscribe`');
  },
};

/**
 * TypeGraphQL classes → a Federation 2 subgraph. Arguments are validated by the schemas in schema/requests, not here, and
 * the schema itself by composition, which reads its text.
 */
export async function buildSubgraph(
  name: string,
  { written = {}, ...parts }: SubgraphParts,
  references: Readonly<Record<string, ResolveReference>> = {},
): Promise<Subgraph> {
  const built = await buildSchema({ ...parts, validate: false, skipCheck: true, pubSub: noPubSub });
  const plain = withoutUnreadInputs(describeRoots(built));
  const schema = withEntities(plain, references);
  return {
    name,
    schema,
    written: withLeaves(schema, written),
    get sdl() {
      return textOf(plain);
    },
  };
}

/** Descriptions of the root types. They are the same in each subgraph, because composition keeps one of them. */
const roots = {
  query: 'Reads. No field of this type writes anything or costs money.',
  mutation:
    'Writes. A field marked `@paid` costs its price in atomic USDC, and is the only field of its operation. With an Idempotency-Key header any other field is carried out once, unless its response holds a secret.',
  subscription:
    'Events, over a WebSocket (graphql-transport-ws) or as server-sent events at /graphql/stream. A field marked `@paid` is served here to a request with an API key; a payment for it is accepted at its REST endpoint only.',
} as const;

function describeRoots(schema: GraphQLSchema): GraphQLSchema {
  const types = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  for (const root of Object.keys(roots) as (keyof typeof roots)[]) {
    const type = types[root];
    if (type) type.description = roots[root];
  }
  return schema;
}

/**
 * `printSubgraphSchema` cannot print a TypeGraphQL schema; printing with directives and adding the `@link` can. TypeGraphQL lists members
 * as their classes happened to be imported: the text must not depend on the order of imports.
 */
function textOf(plain: GraphQLSchema): string {
  return HEADER + printSchemaWithDirectives(lexicographicSortSchema(plain));
}
