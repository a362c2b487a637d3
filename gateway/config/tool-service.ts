import { Secret } from '../../schema/secret.ts';
import { OperatorFault } from './fault.ts';
import { leavesInTheClear } from './production-faults.ts';
import { readConfig } from './read-config.ts';
import type { Environment } from './variables.ts';

/** The service whose tools a command forwards, with the credentials that are sent to it. */
export interface ToolService {
  /** URL without a trailing slash. */
  readonly url: string;
  /** Values by header name. */
  readonly credentials: Readonly<Record<string, Secret>>;
  /** Query of the service's /mcp, which selects the tools and schemas that are listed. Empty, or beginning with `?`. */
  readonly query: string;
}

/** The header in which each credential is sent, by variable. No credential is a wallet key. */
const credentialHeaders = {
  SVC_API_KEY: 'x-api-key',
  SVC_SESSION: 'x-svc-session',
  SVC_ROUTER_KEY: 'x-router-key',
} as const;

/** The parameter of /mcp for each variable. The service checks the values, because its version may differ. */
const queryParameters = { SVC_TOOLS: 'tools', SVC_SCHEMAS: 'schemas' } as const;

/**
 * Reads the service from the environment. @throws OperatorFault if SERVICE_URL is not a URL, or credentials would be sent
 * unencrypted to another machine
 */
export function readToolService(environment: Environment = process.env): ToolService {
  const { SERVICE_URL = '' } = environment;
  const url = (SERVICE_URL.trim() || readConfig().base_url).replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new OperatorFault('SERVICE_URL is not an http(s) URL, such as http://127.0.0.1:4000');
  const given = Object.entries(credentialHeaders).flatMap(([variable, header]) => {
    const text = environment[variable]?.trim() ?? '';
    if (text === '') return [];
    // Other characters are invalid in a header or would end it.
    if (!/^[!-~]+$/.test(text))
      throw new OperatorFault(`${variable} contains a space or a character that is not printable ASCII; copy it again`);
    return [[header, new Secret(text)] as const];
  });
  if (given.length > 0 && leavesInTheClear(url)) {
    throw new OperatorFault(
      'SERVICE_URL is http to another machine, so credentials would be sent unencrypted; use https',
    );
  }
  return { url, credentials: Object.fromEntries(given), query: queryIn(environment) };
}

function queryIn(environment: Environment): string {
  const given = Object.entries(queryParameters).flatMap(([variable, parameter]) => {
    const text = environment[variable]?.trim() ?? '';
    return text === '' ? [] : [[parameter, text] as [string, string]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
