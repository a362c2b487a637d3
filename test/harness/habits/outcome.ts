import type { Fetch } from '../buyer.ts';

/** The parts of an answer that a client shows. */
export interface HabitOutcome {
  readonly text: string;
  readonly reasoning?: string | undefined;
  /** The finish reason. Undefined if the client does not show it. */
  readonly finish?: string | null | undefined;
}

/** The base URL and the fetch by which a client reaches a model. */
export interface ApiAddress {
  readonly baseURL: string;
  readonly fetch: Fetch;
}

/** Makes one call. Returns what the client shows. The parts of a stream that breaks off are added to `shown`. */
export type HabitCall = (reached: ApiAddress, model: string, shown: string[]) => Promise<HabitOutcome>;

/**
 * The outcome of one call by a client on one line: `"text" [reasoning] finish`, or `ErrorClass status code after "what it showed before"`.
 * `×2` means that it sent two requests, and `wait 7` that the answer before named that many seconds.
 */
export async function habitOutcome(call: HabitCall, reached: ApiAddress, model: string): Promise<string> {
  const counting = counted(reached.fetch);
  const shown: string[] = [];
  const ended = await call({ ...reached, fetch: counting.fetch }, model, shown).then(answerLine, fault =>
    faultLine(fault, shown.join('')),
  );
  const { requests, wait } = counting.counts();
  return [ended, requests > 1 && `×${requests}`, wait !== null && `wait ${wait}`].filter(Boolean).join(' ');
}

function answerLine({ text, reasoning, finish }: HabitOutcome): string {
  return [JSON.stringify(text), reasoning && `[${reasoning}]`, finish].filter(Boolean).join(' ');
}

function faultLine(fault: unknown, shown: string): string {
  const { status, code } = factsOf(fault);
  const after = shown === '' ? null : `after ${JSON.stringify(shown)}`;
  return [nameOf(fault), status, code, after].filter(Boolean).join(' ');
}

/** Name of an error's class. OpenAI's clients leave `name` at `Error` in each of their classes; the others set it. */
function nameOf(fault: unknown): string {
  if (!(fault instanceof Error)) return 'no Error';
  return fault.name === 'Error' ? fault.constructor.name : fault.name;
}

interface Facts {
  readonly status?: number | undefined;
  readonly code?: string | undefined;
}

/**
 * Status and code of an error. The AI SDK keeps them in the body and in the last of several errors, other clients in the error or its
 * cause.
 */
function factsOf(fault: unknown): Facts {
  if (typeof fault !== 'object' || fault === null) return {};
  const { name, status, statusCode, code, type, responseBody, lastError, cause } = fault as Record<string, unknown>;
  const within = lastError ?? cause;
  if (status === undefined && statusCode === undefined && within !== undefined) return factsOf(within);
  // The AI SDK invents a status for an error event, so it is ignored.
  const answered = name === 'AI_StreamProviderError' ? undefined : (status ?? statusCode);
  return { status: answered as number | undefined, code: [code, codeIn(responseBody), type].find(isWord) };
}

const isWord = (value: unknown): value is string => typeof value === 'string';

function codeIn(body: unknown): unknown {
  if (!isWord(body)) return undefined;
  const { error, code } = JSON.parse(body) as { error?: { code?: unknown }; code?: unknown };
  return error?.code ?? code;
}

/**
 * Counts a client's requests and shortens its waits between them. LangChain accepts only whole seconds, and waits one or two by default.
 */
function counted(by: Fetch) {
  let requests = 0;
  let wait: string | null = null;
  const counting: Fetch = async (input, init) => {
    requests++;
    const answer = await by(input, init);
    if (answer.ok) return answer;
    wait = answer.headers.get('retry-after');
    const headers = new Headers(answer.headers);
    headers.set('retry-after-ms', '1');
    if (wait !== null) headers.set('retry-after', '0');
    return new Response(answer.body, { status: answer.status, headers });
  };
  return { fetch: counting, counts: () => ({ requests, wait }) };
}
