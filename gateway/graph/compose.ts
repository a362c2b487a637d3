import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** Subgraphs → supergraph SDL. @throws with every composition error, one a line. */
export function composeSupergraph(subgraphs: readonly { readonly name: string; readonly sdl: string }[]): string {
  const services = subgraphs.map(({ name, sdl }) => ({ name, url: `in-process:${name}`, typeDefs: parse(sdl) }));
  const result = composeServices(services);
  if (result.errors)
    throw new Error(`the subgraphs do not compose:\n${result.errors.map(error => error.message).join('\n')}`);
  return result.supergraphSdl;
}
