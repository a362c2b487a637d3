import { atomicAmount, formatUsdc } from '../schema/amount.ts';
import { type Html, html } from '../schema/html.ts';
import { type NetworkName, networkNamed } from '../schema/network.ts';
import { spends } from './credentials.ts';
import type { Door, DoorPrice } from './door.ts';
import type { DoorRequest } from './door-request.ts';
import { prefers } from './http/accept.ts';
import { offer, priceOf, resourceOf } from './offer.ts';
import type { Port } from './port.ts';
import type { Answer } from './problem.ts';
import { HTML, openingTags, pageHeaders } from './receipt/page/layout.ts';

/* The page of a paid endpoint in a browser: what it sells, what it costs and how to pay. */

type PaidDoor = Door & { readonly price: DoorPrice };

export function isPaid(door: Door): door is PaidDoor {
  return door.price !== null;
}

const NETWORKS: Readonly<Record<NetworkName, string>> = { base: 'Base', solana: 'Solana' };

/** A browser prefers HTML to JSON. A request with a payment or a key comes from a program, which needs its own answer. */
export function opensInBrowser({ method, headers }: Pick<DoorRequest, 'method' | 'headers'>): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  return !spends(headers) && prefers(headers.accept, HTML, 'application/json');
}

/**
 * The 402 of a paid endpoint as a page, with the offer in its header where the price does not depend on the request. Nothing on the page comes
 * from the request. `beside`: more headers.
 */
export function offerPage(
  door: PaidDoor,
  request: Pick<DoorRequest, 'params'>,
  port: Port,
  beside: Answer['headers'],
): Answer {
  const offered = offer(door, request, port, null);
  const page = { ...pageHeaders(null), vary: 'accept', 'content-type': HTML };
  return {
    ...offered,
    status: 402,
    headers: { ...offered.headers, ...page, ...beside },
    body: textOf(door, networksIn(door, request, port), port.base_url),
  };
}

/** The networks of the offer, which are those of the door that this service settles on. Empty where the price depends on the request. */
function networksIn(door: PaidDoor, request: Pick<DoorRequest, 'params'>, port: Port): readonly NetworkName[] {
  const price = priceOf(door, resourceOf(door, request, port));
  if (price === null) return [];
  const { accepts } = port.challenge(price, null).body as { accepts: readonly { network: string }[] };
  return accepts.flatMap(({ network }) => networkNamed(network) ?? []);
}

function textOf(door: PaidDoor, networks: readonly NetworkName[], base_url: string): string {
  const { methods, path, summary, price, possession, name, tool } = door;
  const url = base_url + path;
  const [method = 'POST'] = methods;
  return html`${openingTags(`Payment required: ${method} ${path}`)}
<body><main><h1>Payment required</h1>
<p class="sum">${costOf(price)}</p>
<p>${summary}.</p>
<dl><dt>Endpoint</dt><dd><code>${method} ${url}</code></dd>
<dt>Price</dt><dd>${priceInUnits(price)}</dd>
<dt>Networks</dt><dd>${networks.length === 0 ? 'Named in the 402 response to a request.' : networks.map(network => NETWORKS[network]).join(' or ')}</dd>
<dt>Protocol</dt><dd>x402, versions 1 and 2</dd>
<dt>Account</dt><dd>${possession === 'none' ? 'None. The payment is all that is needed.' : html`A registered agent. Send its session in the header <code>X-SVC-Session</code>. <code>POST ${base_url}/v1/agents/register</code> returns a session.`}</dd></dl>
<h2>See the offer</h2>
<p>A request without a payment is answered with status 402. The header <code>PAYMENT-REQUIRED</code> and the body of that response name the price, the networks and the address to pay.</p>
${programText(`curl -i -X ${method} ${possession === 'none' ? '' : '-H "X-SVC-Session: $SVC_SESSION" '}${quoted(url)}`)}
${placeholdersIn(path)}
<h2>Pay from a program</h2>
<p>An x402 client reads the offer, signs a payment and sends the request again with that payment. This program pays from a wallet that holds USDC on Base
(first run <code>npm install @x402/fetch @x402/evm viem</code>):</p>
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

const links = [
  ['/llms.txt', 'All endpoints (text)'],
  ['/openapi.json', 'OpenAPI description (JSON)'],
  ['/.well-known/x402', 'All prices (JSON)'],
  ['/v1/models', 'Models (JSON)'],
  ['/health', 'Service status (JSON)'],
] as const;

function costOf({ amount_atomic }: DoorPrice): string {
  return amount_atomic === null
    ? 'The price depends on the request'
    : `${formatUsdc(atomicAmount(amount_atomic))} for each request`;
}

function priceInUnits({ amount_atomic }: DoorPrice): string {
  return amount_atomic === null
    ? 'Named in the 402 response to a request, in USDC.'
    : `${amount_atomic} atomic units of USDC (6 decimals)`;
}

function placeholdersIn(path: string): Html | '' {
  const names = path.match(/\{\w+\}/g);
  if (names === null) return '';
  return html`<p>Replace ${names.map((name, at) => html`${at === 0 ? '' : ' and '}<code>${name}</code>`)} in the URL with your own values.</p>`;
}

/** A shell reads braces. */
function quoted(url: string): string {
  return url.includes('{') ? `'${url}'` : url;
}

function programText(text: string): Html {
  return html`<pre>${text}</pre>`;
}

function programOf({ example, takes, possession }: PaidDoor, method: string, url: string): string {
  const isForm = takes === 'multipart/form-data';
  const file = JSON.stringify(example?.file ?? 'file');
  const headers = [
    ...(isForm ? [] : [`'content-type': 'application/json'`]),
    `'idempotency-key': crypto.randomUUID()`,
    ...(possession === 'none' ? [] : [`'x-svc-session': env.SVC_SESSION`]),
  ];
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
