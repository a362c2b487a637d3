import { atomicAmount, formatUsdc } from '../schema/amount.ts';
import { type Html, html } from '../schema/html.ts';
import { type NetworkName, networkNamed } from '../schema/network.ts';
import type { Door, DoorPrice } from './door.ts';
import type { DoorRequest, RequestHeaders } from './door-request.ts';
import { prefers } from './http/accept.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';
import { HTML, openingTags, pageHeaders } from './receipt/page/layout.ts';
import { ownHeaders } from './request-headers.ts';

/* The page of a paid endpoint in a browser: what it sells, what it costs and how to pay. */

type PaidDoor = Door & { readonly price: DoorPrice };
/** What a page says of the service. */
type PagePort = Pick<Port, 'base_url' | 'simulated_networks'>;

export function isPaid(door: Door): door is PaidDoor {
  return door.price !== null;
}

const NETWORKS: Readonly<Record<NetworkName, string>> = { base: 'Base', solana: 'Solana' };

/**
 * Shows an offer (402) to a browser as a page with the same status and offer. Every other answer stays as it is: the page is made after all
 * checks of the endpoint, so it never replaces a 401, 403 or 429. Nothing on the page comes from the request.
 */
export function inBrowserForm(
  door: PaidDoor,
  request: Pick<DoorRequest, 'method' | 'headers'>,
  answer: Answer,
  port: PagePort,
): Answer {
  const { amount_atomic } = door.price;
  // The 402 of a GET has no offer if the price is unknown.
  if (answer.status !== 402 || amount_atomic === null || !opensInBrowser(request)) return answer;
  return {
    ...answer,
    headers: { ...answer.headers, ...pageHeaders(null), vary: 'accept', 'content-type': HTML },
    body: textOf(door, amount_atomic, networksIn(answer), port),
  };
}

/** A browser prefers HTML to JSON and sends no header of this API. */
function opensInBrowser({ method, headers }: Pick<DoorRequest, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return !isFromProgram(headers) && prefers(headers.accept, HTML, 'application/json');
}

/** Credentials, payments and other headers that only a program sends. A program needs its own answer, whatever it accepts. */
function isFromProgram(headers: RequestHeaders): boolean {
  return Object.keys(headers).some(name => programHeaders.has(name) || name.startsWith('x-svc-'));
}

const programHeaders: ReadonlySet<string> = new Set(['authorization', ...ownHeaders]);

/** The networks of the offer, which are those of the endpoint that this service settles on. */
function networksIn({ body }: Answer): readonly NetworkName[] {
  const { accepts } = JSON.parse(String(body)) as { readonly accepts: readonly { readonly network: string }[] };
  return accepts.flatMap(({ network }) => networkNamed(network) ?? []);
}

function textOf(
  door: Door,
  amount_atomic: bigint,
  networks: readonly NetworkName[],
  { base_url, simulated_networks }: PagePort,
): string {
  const { methods, path, summary, name, tool } = door;
  const url = base_url + path;
  const [method = 'POST'] = methods;
  return html`${openingTags(`Payment required: ${method} ${path}`)}
<body><main>${standInBanner(simulated_networks)}<h1>Payment required</h1>
<p class="sum">${formatUsdc(atomicAmount(amount_atomic))} for each request</p>
<p>${summary}.</p>
<dl><dt>Endpoint</dt><dd><code>${method} ${url}</code></dd>
<dt>Price</dt><dd>${String(amount_atomic)} atomic units of USDC (6 decimals)</dd>
<dt>Networks</dt><dd>${networks.map(network => NETWORKS[network]).join(' or ')}</dd>
<dt>Protocol</dt><dd>x402, versions 1 and 2</dd>
<dt>Account</dt><dd>None. The payment is all that is needed.</dd></dl>
<h2>See the offer</h2>
<p>A request without a payment is answered with status 402. The header <code>PAYMENT-REQUIRED</code> and the body of that response name the price, the networks and the address to pay.</p>
${programText(`curl -i -X ${method} ${url}`)}
<h2>Pay from a program</h2>
<p>An x402 client reads the offer, signs a payment and sends the request again with that payment. This program pays from a wallet that holds USDC on Base
(save it as <code>pay.mjs</code>, run <code>npm install @x402/fetch @x402/evm viem</code>, put the
key of the wallet into the environment as <code>PRIVATE_KEY</code>, then run <code>node pay.mjs</code>):</p>
${programText(programOf(door, method, url))}
<p>If no response arrives, or it is a 503 with the code <code>settlement_pending</code>, send the same payment again and do not sign another.
The response to a paid request contains a signed receipt.</p>
<h2>Pay from an AI agent</h2>
<p>${'none' in tool ? 'The MCP server has no tool for this endpoint.' : html`The MCP server at <code>${base_url}/mcp</code> offers this endpoint as the tool <code>${tool.name ?? name}</code>. Send the payment in <code>_meta["x402/payment"]</code>.`}</p>
<nav aria-labelledby="more"><h2 id="more">Documentation</h2>
<ul>${links.map(([at, label]) => html`<li><a href="${base_url}${at}">${label}</a></li>`)}</ul></nav>
</main><footer><p>This page was opened with GET, which buys nothing. To buy, send ${method}.</p></footer>
</body></html>
`.text;
}

/** A stand-in has the chain id and the USDC address of the real chain, so what a wallet signs for it is valid there as well. */
function standInBanner(networks: readonly NetworkName[]): Html | '' {
  if (networks.length === 0) return '';
  const names = networks.map(network => NETWORKS[network]).join(' and ');
  return html`<p class="profile" role="note"><strong>development</strong>This service runs on a stand-in for ${names}: no real money moves. Do not pay with a wallet that holds real USDC: a payment signed here is valid on the real network too. Pay from a development wallet: <code>npm run example -- buy-chat</code> makes one and buys a chat with it.</p>`;
}

const links = [
  ['/llms.txt', 'All endpoints (text)'],
  ['/openapi.json', 'OpenAPI description (JSON)'],
  ['/.well-known/x402', 'All prices (JSON)'],
  ['/v1/models', 'Models (JSON)'],
  ['/health', 'Service status (JSON)'],
] as const;

function programText(text: string): Html {
  return html`<pre>${text}</pre>`;
}

function programOf({ example, takes }: Door, method: string, url: string): string {
  const isForm = takes === 'multipart/form-data';
  const file = JSON.stringify(example?.file ?? 'file');
  const headers = [...(isForm ? [] : [`'content-type': 'application/json'`]), `'idempotency-key': crypto.randomUUID()`];
  return [
    ...(isForm ? [`import { openAsBlob } from 'node:fs';`] : []),
    `import { env } from 'node:process';`,
    `import { ExactEvmScheme } from '@x402/evm/exact/client';`,
    `import { wrapFetchWithPayment, x402Client } from '@x402/fetch';`,
    `import { privateKeyToAccount } from 'viem/accounts';`,
    '',
    `const wallet = privateKeyToAccount(env.PRIVATE_KEY);`,
    `const payments = new x402Client().register('eip155:*', new ExactEvmScheme(wallet));`,
    `const pay = wrapFetchWithPayment(fetch, payments);`,
    ...(isForm ? [`const body = new FormData();`, `body.append('file', await openAsBlob(${file}), ${file});`] : []),
    `const response = await pay(${JSON.stringify(url)}, {`,
    `  method: '${method}',`,
    `  headers: { ${headers.join(', ')} },`,
    isForm ? '  body,' : `  body: JSON.stringify(${JSON.stringify(example ?? {})}),`,
    '});',
    'console.log(response.status, await response.json());',
  ].join('\n');
}
