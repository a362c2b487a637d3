import { tags } from '../tags.ts';
import type { SchemaDetail, Tool } from './tool.ts';

/* Which tools `tools/list` returns. A tool that is not listed can be called as well. */

/** The default set: the tools whose row says so. */
const DAILY = 'daily';

/** Sets by name, each with a test of membership. Every tag of endpoints is a set. */
const sets: ReadonlyMap<string, (tool: Tool) => boolean> = new Map([
  [DAILY, ({ door: { tool } }) => 'daily' in tool],
  ['all', () => true],
  ...tags.map(({ name }) => [String(name), ({ door }: Tool) => door.tags.includes(String(name))] as const),
]);

export const toolSets: readonly string[] = [...sets.keys()];

/** What `tools/list` returns. */
export interface Listing {
  readonly kind: 'listing';
  readonly sets: readonly string[];
  readonly schemas: SchemaDetail;
}

/** The default, for a URL without parameters. */
export const defaultListing: Listing = { kind: 'listing', sets: [DAILY], schemas: 'short' };

export type ListingRequest = Listing | { readonly kind: 'unknown'; readonly message: string };

/** `tools`: names of sets, separated by commas; `schemas`: `short` or `full`. Other parameters are ignored. */
export function listingIn(query: URLSearchParams): ListingRequest {
  const named = query.getAll('tools').flatMap(names => names.split(','));
  const trimmed = named.map(name => name.trim()).filter(name => name !== '');
  const unknown = trimmed.find(name => !sets.has(name));
  if (unknown !== undefined) {
    const message = `Unknown tool set: ${unknown.slice(0, NAME_CHARS_SHOWN)}. Sets: ${toolSets.join(', ')}.`;
    return { kind: 'unknown', message };
  }
  const [schemas = 'short', ...others] = new Set(query.getAll('schemas'));
  if (others.length > 0 || (schemas !== 'short' && schemas !== 'full')) {
    return { kind: 'unknown', message: 'schemas must be `short` (default) or `full`.' };
  }
  return { kind: 'listing', sets: trimmed.length > 0 ? [...new Set(trimmed)] : defaultListing.sets, schemas };
}

const NAME_CHARS_SHOWN = 64;

/** Each tool once, in the order of the endpoints. */
export function selectTools(tools: Iterable<Tool>, { sets: names }: Listing): readonly Tool[] {
  const asked = names.flatMap(name => sets.get(name) ?? []);
  return [...tools].filter(tool => asked.some(has => has(tool)));
}
