import { createServer, type IncomingMessage, type Server } from 'node:http';
import { json } from 'node:stream/consumers';
import type { Json, JsonObject } from '../../../schema/canonical-json.ts';
import { type RpcMethod, SvmRpcFault } from './methods.ts';

const METHOD_NOT_FOUND = -32601;
const INVALID_REQUEST = -32600;
const INTERNAL = -32603;

/** Serves JSON-RPC 2.0 over HTTP on loopback, with single calls and batches. With port 0 the system selects a free port. */
export async function serveRpc(port: number, methods: Readonly<Record<string, RpcMethod>>): Promise<Server> {
  const server = createServer(async (request, response) => {
    const body = JSON.stringify(await answerTo(request, methods));
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, '127.0.0.1', resolve));
  return server;
}

async function answerTo(request: IncomingMessage, methods: Readonly<Record<string, RpcMethod>>): Promise<Json> {
  const asked = await (json(request) as Promise<Json>).catch(() => null);
  if (!Array.isArray(asked)) return answerOne(asked, methods);
  const answers: Json[] = [];
  for (const one of asked) answers.push(await answerOne(one, methods));
  return answers;
}

async function answerOne(call: Json, methods: Readonly<Record<string, RpcMethod>>): Promise<Json> {
  const { id = null, method, params } = (typeof call === 'object' && call !== null ? call : {}) as JsonObject;
  try {
    if (typeof method !== 'string') throw new SvmRpcFault(INVALID_REQUEST, 'Invalid request');
    const found = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!found) throw new SvmRpcFault(METHOD_NOT_FOUND, `Method not found: ${method}`);
    return { jsonrpc: '2.0', id, result: await found(Array.isArray(params) ? params : []) };
  } catch (fault) {
    const known = fault instanceof SvmRpcFault ? fault : new SvmRpcFault(INTERNAL, String(fault));
    if (known !== fault) console.error(`${String(method)}:`, fault);
    return { jsonrpc: '2.0', id, error: { code: known.code, message: known.message, data: known.data } };
  }
}
