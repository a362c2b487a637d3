import { isJsonObject, type Json } from '../../../schema/canonical-json.ts';

/* HTTP exchanges of `npm run demo -- --verbose` as text, with the payment headers decoded and long values cut. */

/** A request and its response, as lines of text. */
export type Exchange = readonly string[];

/** Names of x402's headers, whose values are JSON in base64. */
const PAYMENT_HEADERS = ['payment-required', 'payment-signature', 'payment-response'];

const TEXT_CHARACTERS_MAX = 100;
const LINES_MAX = 20;
/** Names of members that contain JSON Schemas of the endpoint, each hundreds of lines long. */
const SCHEMA_MEMBERS: readonly string[] = ['outputSchema', 'bazaar'];

/**
 * Returns a fetch that reports each exchange with `origin`. Requests to other hosts, such as the chain's node, are not reported.
 */
export function reportingFetch(origin: string, report: (exchange: Exchange) => void, by: typeof fetch): typeof fetch {
  const seen = new Set<string>();
  return async (input, init) => {
    const request = new Request(input, init);
    if (new URL(request.url).origin !== origin) return by(input, init);
    const sent = request.body === null ? '' : await request.clone().text();
    const response = await by(request);
    const received = await response.clone().text();
    report([...requestLines(request, sent, seen), ...responseLines(response, received, seen)]);
    return response;
  };
}

type ShownLines = Set<string>;

function requestLines({ method, url, headers }: Request, body: string, seen: ShownLines): Exchange {
  return [`> ${method} ${url}`, ...headerLines('>', headers, seen), ...bodyLines('>', body, seen)];
}

function responseLines({ status, statusText, headers }: Response, body: string, seen: ShownLines): Exchange {
  return [`< ${status} ${statusText}`.trimEnd(), ...headerLines('<', headers, seen), ...bodyLines('<', body, seen)];
}

/** Lines for the headers of x402 and of this service. */
function headerLines(side: '>' | '<', headers: Headers, seen: ShownLines): Exchange {
  return [...headers].flatMap(([name, value]) => {
    if (PAYMENT_HEADERS.includes(name)) {
      const [first = '', ...more] = newLines(decoded(value), seen);
      return [`${side} ${name.toUpperCase()}: ${first}`, ...more.map(line => `${side} ${line}`)];
    }
    return name.startsWith('x-svc-') ? [`${side} ${name}: ${shortText(value)}`] : [];
  });
}

function bodyLines(side: '>' | '<', body: string, seen: ShownLines): Exchange {
  return body === '' ? [] : [side, ...newLines(parsed(body), seen).map(line => `${side} ${line}`)];
}

/**
 * Lines of JSON. JSON that was shown before, such as the offer in the response to each unpaid request, is replaced by one line.
 */
function newLines(value: Json, seen: ShownLines): Exchange {
  const lines = jsonLines(value);
  const text = lines.join('\n');
  if (lines.length > 1 && seen.has(text)) return ['(same as before)'];
  seen.add(text);
  return lines;
}

const decoded = (value: string): Json => parsed(Buffer.from(value, 'base64').toString());

/** JSON as a value. Text that is not JSON stays text. */
function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** JSON in at most 20 lines, of which the last one may give the number of lines that were left out. */
export function jsonLines(value: Json): Exchange {
  const lines = JSON.stringify(shortenText(value), null, 2).split('\n');
  if (lines.length <= LINES_MAX) return lines;
  const shown = lines.slice(0, LINES_MAX - 1);
  return [...shown, `… ${lines.length - shown.length} more lines`];
}

function shortenText(value: Json): Json {
  if (typeof value === 'string') return shortText(value);
  if (Array.isArray(value)) return value.map(shortenText);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, member]) => [
    name,
    SCHEMA_MEMBERS.includes(name) ? '…' : shortenText(member),
  ]);
  return Object.fromEntries(members);
}

function shortText(text: string): string {
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text;
}
