import { type DocumentNode, parse } from 'graphql';

/** The composed graph in SDL: `npm run compose` writes it, and every start reads it. */
export const SUPERGRAPH_FILE = new URL('./supergraph.graphql', import.meta.url);

let last: { readonly sdl: string; readonly document: DocumentNode } | null = null;

/** Parses a supergraph. The last one is cached, because endpoints and graph use the same at start. */
export function parsedSupergraph(sdl: string): DocumentNode {
  if (last?.sdl !== sdl) last = { sdl, document: parse(sdl, { noLocation: true }) };
  return last.document;
}
