import type { JsonObject } from '../../../schema/canonical-json.ts';
import type { Door, Face } from '../../door.ts';
import { problem } from '../../problem.ts';
import { callTool, type ToolCaller } from './call-tool.ts';
import { negotiated, type Spoken, supportedVersions } from './generation.ts';
import { metaOf, type RpcFault, type RpcRequest } from './json-rpc.ts';
import { pays } from './payment-meta.ts';
import { capabilities, capabilitiesWithExtensions, ending, instructions, serverInfo } from './server.ts';
import { doorTools, type Tool } from './tool.ts';
import { toolMessage } from './tool-result.ts';

/** One request and its context. */
export interface Call {
  readonly request: RpcRequest;
  readonly spoken: Spoken;
  readonly caller: ToolCaller;
  readonly house: Face;
  /** Called with internal errors, which the client only sees as such. */
  broke(fault: unknown): void;
  /** Called with the work of a tool, which may continue after its client has been answered. */
  begun?: ((work: Promise<unknown>) => void) | undefined;
}

export type MethodOutcome =
  /** JSON text. */
  | { readonly kind: 'result'; readonly result: string }
  /** The result of `initialize`, after which a session may begin. */
  | { readonly kind: 'begun'; readonly result: string }
  /** The call of a tool, which may take a while. Its promise never rejects. */
  | { readonly kind: 'work'; run(): Promise<Buffer> }
  | ({ readonly kind: 'fault' } & RpcFault);

type Method = (call: Call) => MethodOutcome;

/** The methods that a server of tools needs. */
export const methods: Readonly<Record<Spoken['generation'], ReadonlyMap<string, Method>>> = {
  legacy: new Map<string, Method>([
    ['initialize', initialize],
    ['ping', () => ({ kind: 'result', result: '{}' })],
    ['tools/list', listTools],
    ['tools/call', useTool],
  ]),
  modern: new Map<string, Method>([
    ['server/discover', discover],
    ['tools/list', listTools],
    ['tools/call', useTool],
  ]),
};

function initialize({ request }: Call): MethodOutcome {
  const protocolVersion = negotiated(request.params);
  return { kind: 'begun', result: JSON.stringify({ protocolVersion, capabilities, serverInfo, instructions }) };
}

/** The response is the same for every client, and does not change while the service runs (2026-07-28, "Caching"). */
const lasting = { ttlMs: 3_600_000, cacheScope: 'public' } as const;

function discover({ spoken }: Call): MethodOutcome {
  const said = { supportedVersions, capabilities: capabilitiesWithExtensions, instructions, ...lasting };
  return { kind: 'result', result: finished(JSON.stringify(said), spoken) };
}

function listTools({ request, spoken, house }: Call): MethodOutcome {
  if (request.params.cursor !== undefined) {
    return { kind: 'fault', code: 'invalid_params', message: 'All tools are on one page: there is no cursor.' };
  }
  const told = `{"tools":${toolsText(house.doors)}}`;
  if (spoken.generation === 'legacy') return { kind: 'result', result: told };
  return { kind: 'result', result: finished(`${told.slice(0, -1)},${JSON.stringify(lasting).slice(1)}`, spoken) };
}

const texts = new WeakMap<readonly Door[], string>();

function toolsText(doors: readonly Door[]): string {
  const text = texts.get(doors) ?? JSON.stringify([...doorTools(doors).values()].map(({ told }) => told));
  texts.set(doors, text);
  return text;
}

/** Adds the members that end a result. */
function finished(text: string, spoken: Spoken): string {
  return `${text.slice(0, -1)}${ending(spoken, null)}}`;
}

function useTool(call: Call): MethodOutcome {
  const { name } = call.request.params;
  const tool = typeof name === 'string' ? doorTools(call.house.doors).get(name) : undefined;
  const told = typeof name === 'string' ? name.slice(0, 128) : 'it is no text';
  if (!tool) return { kind: 'fault', code: 'invalid_params', message: `Unknown tool: ${told}` };
  return { kind: 'work', run: () => worked(tool, call) };
}

async function worked(tool: Tool, { request, spoken, caller, house, broke }: Call): Promise<Buffer> {
  const { id, params } = request;
  try {
    return toolMessage(id, await callTool(tool, params, caller, house), spoken);
  } catch (fault) {
    broke(fault);
    return toolMessage(id, problem({ code: 'internal' }, {}, pays(metaOf(params as JsonObject))), spoken);
  }
}
