import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { RestLayer } from '../../door.ts';
import { problem } from '../../problem.ts';
import { callTool, type ToolCaller } from './call-tool.ts';
import { negotiateVersion, type Protocol, supportedVersions } from './generation.ts';
import { metaOf, type RpcFault, type RpcRequest } from './json-rpc.ts';
import { pays } from './payment-meta.ts';
import { capabilities, capabilitiesWithExtensions, instructions, resultEnd, serverInfo } from './server.ts';
import { doorTools, type SchemaDetail, type Tool } from './tool.ts';
import { toolMessage } from './tool-result.ts';
import { type Listing, selectTools } from './tool-sets.ts';

/** One request and its context. */
export interface McpCall {
  readonly request: RpcRequest;
  readonly protocol: Protocol;
  readonly caller: ToolCaller;
  readonly layer: RestLayer;
  /** The tools that the URL of the request selects for `tools/list`. */
  readonly listing: Listing;
  /** Called with internal errors, which the client only sees as such. */
  onFault(fault: unknown): void;
  /** Called with the work of a tool, which may continue after its client has been answered. */
  onWork?: ((work: Promise<unknown>) => void) | undefined;
}

export type MethodOutcome =
  /** JSON text. */
  | { readonly kind: 'result'; readonly result: string }
  /** The result of `tools/list`. It is made after the rate limit, because it is long. */
  | { readonly kind: 'listing'; list(): string }
  /** The result of `initialize`, after which a session may begin. */
  | { readonly kind: 'begun'; readonly result: string }
  /** The call of a tool, which may take a while. Its promise never rejects. */
  | { readonly kind: 'work'; run(): Promise<Buffer> }
  | ({ readonly kind: 'fault' } & RpcFault);

type Method = (call: McpCall) => MethodOutcome;

/** The methods that a server of tools needs. */
export const methods: Readonly<Record<Protocol['generation'], ReadonlyMap<string, Method>>> = {
  legacy: new Map<string, Method>([
    ['initialize', initialize],
    ['ping', () => ({ kind: 'result', result: '{}' })],
    ['tools/list', listTools],
    ['tools/call', callToolMethod],
  ]),
  modern: new Map<string, Method>([
    ['server/discover', discover],
    ['tools/list', listTools],
    ['tools/call', callToolMethod],
  ]),
};

function initialize({ request }: McpCall): MethodOutcome {
  const protocolVersion = negotiateVersion(request.params);
  return { kind: 'begun', result: JSON.stringify({ protocolVersion, capabilities, serverInfo, instructions }) };
}

/** The response is the same for every client of the same URL, and does not change while the service runs (2026-07-28, "Caching"). */
const caching = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

function discover({ protocol }: McpCall): MethodOutcome {
  const discovery = { supportedVersions, capabilities: capabilitiesWithExtensions, instructions, ...caching };
  return { kind: 'result', result: finishResult(JSON.stringify(discovery), protocol) };
}

function listTools({ request, protocol, layer, listing }: McpCall): MethodOutcome {
  if (request.params.cursor !== undefined) {
    return {
      kind: 'fault',
      code: 'invalid_params',
      message: 'cursor is not supported: all tools of a list are on one page.',
    };
  }
  return { kind: 'listing', list: () => storedListing(layer.doors, listing, protocol) };
}

const stored = new WeakMap<RestLayer['doors'], Map<string, string>>();

/** Lists are stored by their sets and schemas. There are more combinations than are worth storing, so the oldest is dropped. */
function storedListing(doors: RestLayer['doors'], listing: Listing, protocol: Protocol): string {
  const texts_by_key = stored.get(doors) ?? new Map<string, string>();
  stored.set(doors, texts_by_key);
  const key = [protocol.generation, listing.schemas, ...[...listing.sets].sort()].join();
  const known = texts_by_key.get(key);
  if (known !== undefined) return known;
  const [oldest] = texts_by_key.keys();
  if (oldest !== undefined && texts_by_key.size >= LISTS_STORED_MAX) texts_by_key.delete(oldest);
  const made = listingText(doors, listing, protocol);
  texts_by_key.set(key, made);
  return made;
}

/** Each takes at most 1.2 MB. */
const LISTS_STORED_MAX = 32;

function listingText(doors: RestLayer['doors'], listing: Listing, protocol: Protocol): string {
  const tools = selectTools(doorTools(doors).values(), listing).map(tool => toolText(tool, listing.schemas));
  const text = `{"tools":[${tools.join()}]}`;
  if (protocol.generation === 'legacy') return text;
  return finishResult(`${text.slice(0, -1)},${JSON.stringify(caching).slice(1)}`, protocol);
}

const texts = { short: new WeakMap<Tool, string>(), full: new WeakMap<Tool, string>() };

function toolText(tool: Tool, schemas: SchemaDetail): string {
  const text = texts[schemas].get(tool) ?? JSON.stringify(tool.entry(schemas));
  texts[schemas].set(tool, text);
  return text;
}

/** Adds the members that end a result. */
function finishResult(text: string, protocol: Protocol): string {
  return `${text.slice(0, -1)}${resultEnd(protocol, null)}}`;
}

function callToolMethod(call: McpCall): MethodOutcome {
  const { name } = call.request.params;
  const tool = typeof name === 'string' ? doorTools(call.layer.doors).get(name) : undefined;
  const shown_name = typeof name === 'string' ? name.slice(0, 128) : 'not a string';
  if (!tool) return { kind: 'fault', code: 'invalid_params', message: `Unknown tool: ${shown_name}` };
  return { kind: 'work', run: () => runTool(tool, call) };
}

async function runTool(tool: Tool, { request, protocol, caller, layer, onFault }: McpCall): Promise<Buffer> {
  const { id, params } = request;
  try {
    return toolMessage(id, await callTool(tool, params, caller, layer), protocol);
  } catch (fault) {
    onFault(fault);
    return toolMessage(id, problem({ code: 'internal' }, {}, pays(metaOf(params as JsonObject))), protocol);
  }
}
