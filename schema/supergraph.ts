import { type DocumentNode, parse } from 'graphql';

/** The graph as it was composed, in SDL: `npm run compose` writes it, and every start reads it. */
export const SUPERGRAPH_FILE = new URL('./supergraph.graphql', import.meta.url);

let last: { readonly sdl: string; readonly document: DocumentNode } | null = null;

/** A supergraph as a document. The last one is kept: endpoints and graph are made of the same at start. */
export function parsedSupergraph(sdl: string): DocumentNode {
  if (last?.sdl !== sdl) last = { sdl, document: parse(sdl, { noLocation: true }) };
  return last.document;
}
