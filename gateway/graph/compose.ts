import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** Composes the supergraph SDL of the subgraphs. @throws every composition error, one per line */
export function composeSupergraph(subgraphs: readonly { readonly name: string; readonly sdl: string }[]): string {
  const services = subgraphs.map(({ name, sdl }) => ({ name, url: `in-process:${name}`, typeDefs: parse(sdl) }));
  const result = composeServices(services);
  if (result.errors)
    throw new Error(`the subgraphs do not compose:\n${result.errors.map(error => error.message).join('\n')}`);
  return result.supergraphSdl;
}
