import { isJsonObject, type JsonObject } from '../../../schema/canonical-json.ts';
import type { RequestHeaders } from '../../door-request.ts';
import { memberOf, metaOf, type RpcFault, type RpcRequest } from './json-rpc.ts';

/*
 * Two generations of MCP at one URL. Until 2025-11-25 a client begins with `initialize`; from 2026-07-28 on each request has the same facts
 * in `_meta` and in headers.
 */

const modern = ['2026-07-28'];
const legacy = ['2025-11-25', '2025-06-18', '2025-03-26'];
const [newest_legacy = ''] = legacy;

/** Version of a client that does not state one (2025-11-25, "Protocol Version Header"). */
const assumed_legacy = '2025-03-26';

export const supportedVersions: readonly string[] = [...modern, ...legacy];

export const PROTOCOL_VERSION = 'io.modelcontextprotocol/protocolVersion';
const CLIENT_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';

/** Protocol of a request. `extensions`: those that the client supports, by name. */
export interface Protocol {
  readonly generation: 'modern' | 'legacy';
  readonly version: string;
  readonly extensions: JsonObject;
}

export type ProtocolOrFault =
  | { readonly kind: 'protocol'; readonly protocol: Protocol }
  | ({ readonly kind: 'refused' } & RpcFault);

/** The message decides. Headers must agree with it, because proxies may have routed by them. */
export function protocolOf(request: RpcRequest, headers: RequestHeaders): ProtocolOrFault {
  const header = headers['mcp-protocol-version'];
  const claimed = metaOf(request.params)[PROTOCOL_VERSION];
  const names_modern = typeof header === 'string' && modern.includes(header.trim());
  if (claimed !== undefined) return modernOf(request, headers, claimed);
  if (names_modern) return refuse('invalid_params', `_meta must have ${PROTOCOL_VERSION}.`);
  if (request.method === 'initialize' || header === undefined) return legacyOf(assumed_legacy);
  const named = String(header).trim();
  return legacy.includes(named) ? legacyOf(named) : refuseVersion(named);
}

/** The requested version if it is supported, otherwise the newest (2025-11-25, "Version Negotiation"). */
export function negotiateVersion({ protocolVersion }: JsonObject): string {
  return typeof protocolVersion === 'string' && legacy.includes(protocolVersion) ? protocolVersion : newest_legacy;
}

function legacyOf(version: string): ProtocolOrFault {
  return { kind: 'protocol', protocol: { generation: 'legacy', version, extensions: {} } };
}

function modernOf(request: RpcRequest, headers: RequestHeaders, claimed: unknown): ProtocolOrFault {
  const capabilities = metaOf(request.params)[CLIENT_CAPABILITIES];
  if (typeof claimed !== 'string') return refuse('invalid_params', `_meta: ${PROTOCOL_VERSION} must be a string.`);
  if (!isJsonObject(capabilities)) return refuse('invalid_params', `_meta: ${CLIENT_CAPABILITIES} must be an object.`);
  const differing = headersOfMessage(request, claimed).find(
    ({ header, value }) => decodeHeader(headers[header]) !== value,
  );
  if (differing) return refuse('header_mismatch', `${differing.header} does not match the message.`);
  if (!modern.includes(claimed)) return refuseVersion(claimed);
  const extensions = memberOf(capabilities, 'extensions');
  const known = isJsonObject(extensions) ? extensions : {};
  return { kind: 'protocol', protocol: { generation: 'modern', version: claimed, extensions: known } };
}

/** Members of a message that are also headers (2026-07-28, "Request Metadata"). */
export function headersOfMessage({ method, params }: Pick<RpcRequest, 'method' | 'params'>, version: string) {
  const name = method === 'tools/call' ? params.name : undefined;
  return [
    { header: 'mcp-protocol-version', value: version },
    { header: 'mcp-method', value: method },
    ...(typeof name === 'string' ? [{ header: 'mcp-name', value: name }] : []),
  ];
}

const ENCODED = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** Values that a header cannot contain are in base64 ("Value Encoding"). */
function decodeHeader(header: RequestHeaders[string]): string | null {
  if (typeof header !== 'string') return null;
  const text = header.trim();
  const [, encoded] = text.match(ENCODED) ?? [];
  return encoded === undefined ? text : Buffer.from(encoded, 'base64').toString();
}

/** Encodes a value for a header, so that `decodeHeader` returns the same value. */
export function encodeHeader(text: string): string {
  const plain = /^[!-~]([ -~]*[!-~])?$/.test(text) && !ENCODED.test(text);
  return plain ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;
}

function refuse(code: RpcFault['code'], message: string, data?: JsonObject): ProtocolOrFault {
  return { kind: 'refused', code, message, ...(data && { data }) };
}

function refuseVersion(requested: string): ProtocolOrFault {
  return refuse('unsupported_version', 'Unsupported protocol version', {
    supported: [...supportedVersions],
    requested,
  });
}
