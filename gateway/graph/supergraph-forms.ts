import { readFile } from 'node:fs/promises';
import { type Schema, Supergraph } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import type { GraphQLSchema } from 'graphql';
import { once } from '../once.ts';

/** A supergraph in the forms in which libraries want it. They follow from its text alone and never change, and take 0.4 s: several graphs share them. */
export interface SupergraphForms {
  readonly sdl: string;
  readonly supergraph: Supergraph;
  /** What clients see, as Apollo's libraries and as graphql-js have it. */
  readonly api: Schema;
  readonly schema: GraphQLSchema;
  readonly planner: QueryPlanner;
  /** With what clients do not see, for whoever joins what several subgraphs answered. */
  readonly full_schema: GraphQLSchema;
}

export const SUPERGRAPH_FILE = new URL('../../schema/supergraph.graphql', import.meta.url);

/** The committed one. It is read, not composed: what runs is what was reviewed. */
export const committedSupergraph = once(async () => formsOf(await readFile(SUPERGRAPH_FILE, 'utf8')));

export function formsOf(sdl: string): SupergraphForms {
  const supergraph = Supergraph.build(sdl, { validateSupergraph: false });
  const api = supergraph.apiSchema();
  return {
    ...{ sdl, supergraph, api },
    schema: api.toGraphQLJSSchema(),
    // Fetches then carry their parsed document, so that the sources parse nothing.
    planner: new QueryPlanner(supergraph, { exposeDocumentNodeInFetchNode: true }),
    full_schema: supergraph.schema.toGraphQLJSSchema(),
  };
}
