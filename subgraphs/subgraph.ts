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
  /** The schema in which the fields that Postgres can write are leaves. For callers that take parts of an answer as text. */
  readonly written: GraphQLSchema;
  /** Text of the schema. It is printed only when it is read, because composition needs it and calls do not. */
  readonly sdl: string;
}

export interface SubgraphParts {
  readonly resolvers: BuildSchemaOptions['resolvers'];
  /**
   * Types that only a reference or a union reaches. TypeGraphQL keeps the types of all subgraphs in one store, so types that are not listed
   * are not part of this subgraph.
   */
  readonly orphanedTypes?: BuildSchemaOptions['orphanedTypes'];
  readonly written?: WrittenFields;
}

/** What a feature beyond the specification adds to a subgraph. */
export interface SubgraphAddition {
  readonly entities: readonly (new () => object)[];
  /** Migrations that run after those of the subgraph. */
  readonly migrations: readonly MigrationClass[];
  readonly resolvers: AddedResolvers;
}

/** Resolver classes that are added to those of a subgraph. */
export type AddedResolvers = readonly (new () => object)[];

/**
 * `@paid` is composed into the supergraph, so that the gateway knows the paid fields of remote subgraphs too. It marks root fields only;
 * `price` is in atomic USDC.
 *
 * `@live` is composed too. It marks a subscription field of which one execution may serve all equal requests. Its events are numbered
 * without gaps by the field that `position` names. The argument that `after` names is the position of the last event that the reader has:
 * null requests only new events, and a negative number counts from the newest event (-1 begins with it). Everything else that the events
 * depend on must be in the document, the variables or the principal. `remembered: false` is set if an old event may show less later than it
 * did before. Events are then not kept for a late reader, for whom a separate execution begins.
 *
 * `@cost` and `@listSize` are directives of Federation itself, which the gateway reads in gateway/graph/supergraph.ts.
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
 * Builds a Federation 2 subgraph from TypeGraphQL classes. Arguments are validated by the schemas in schema/requests and not here. The
 * schema itself is validated by composition, which reads its text.
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

/** Descriptions of the root types. They are the same in each subgraph, because composition keeps only one of them. */
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
 * `printSubgraphSchema` cannot print a TypeGraphQL schema, so the schema is printed with its directives, and the `@link` is added. It is
 * sorted first, because TypeGraphQL lists members in the order in which their classes were imported.
 */
function textOf(plain: GraphQLSchema): string {
  return HEADER + printSchemaWithDirectives(lexicographicSortSchema(plain));
}
