import { Secret } from '../../schema/secret.ts';
import { OperatorFault } from './fault.ts';
import { readConfig } from './read-config.ts';
import { leavesInTheClear } from './refused-in-production.ts';
import type { Environment } from './variables.ts';

/** The service whose tools a command forwards, and what it shows there on behalf of whoever started it. */
export interface ToolService {
  /** Without a trailing slash. */
  readonly url: string;
  /** By header. */
  readonly credentials: Readonly<Record<string, Secret>>;
  /** Query of its /mcp: which tools are listed, and how. Empty, or with its `?`. */
  readonly query: string;
}

/** By which variable a credential is given, and by which header it is shown. None of them is a wallet. */
const shownBy = {
  SVC_API_KEY: 'x-api-key',
  SVC_SESSION: 'x-svc-session',
  SVC_ROUTER_KEY: 'x-router-key',
} as const;

/** By which variable a parameter of /mcp is given. The service says what it takes: it may be of another version. */
const askedBy = { SVC_TOOLS: 'tools', SVC_SCHEMAS: 'schemas' } as const;

/** @throws OperatorFault where there is no such service, or what is shown to it could be read on the way */
export function givenToolService(environment: Environment = process.env): ToolService {
  const { SERVICE_URL = '' } = environment;
  const url = (SERVICE_URL.trim() || readConfig().base_url).replace(/\/+$/, '');
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new OperatorFault('SERVICE_URL is no http(s) URL');
  const given = Object.entries(shownBy).flatMap(([variable, header]) => {
    const text = environment[variable]?.trim() ?? '';
    if (text === '') return [];
    // Anything else would not pass as a header, or as more than one.
    if (!/^[!-~]+$/.test(text)) throw new OperatorFault(`${variable} has characters that no header can carry`);
    return [[header, new Secret(text)] as const];
  });
  if (given.length > 0 && leavesInTheClear(url)) {
    throw new OperatorFault('SERVICE_URL is http to another machine: what is shown there could be read on the way');
  }
  return { url, credentials: Object.fromEntries(given), query: queryIn(environment) };
}

function queryIn(environment: Environment): string {
  const given = Object.entries(askedBy).flatMap(([variable, parameter]) => {
    const text = environment[variable]?.trim() ?? '';
    return text === '' ? [] : [[parameter, text] as [string, string]];
  });
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}
