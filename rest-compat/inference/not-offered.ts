import type { DoorRequest } from '../door-request.ts';
import { inFaultForm } from '../fault-form.ts';
import { type Answer, problem } from '../problem.ts';

/*
 * Endpoints of OpenAI's and Anthropic's APIs that this service does not have. The response says why and what to use instead, in the form of
 * the client's API, and asks for no payment.
 */

type ApiFamily = 'openai' | 'anthropic';

interface NotOffered {
  readonly path: `/v1/${string}`;
  /** `from`: the path and all paths below it; `below`: only the paths below it. */
  readonly reach: 'from' | 'below';
  readonly family: ApiFamily;
  readonly why: string;
  /** Method and path of an endpoint of this service. Null if there is none. */
  readonly instead: string | null;
  /** How to use that endpoint, appended to its name. */
  readonly how: string;
}

const defaults = { reach: 'from', family: 'openai', instead: null, how: '' } as const;

const CHAT = 'POST /v1/chat/completions';
const RESPONSES = 'POST /v1/responses';
const MESSAGES = 'POST /v1/messages';

const noStore = { instead: RESPONSES, how: ' with the earlier turns as `input`' } as const;
const noBatches = {
  why: 'Batches are not supported: each call has its own payment, answer and receipt.',
  instead: CHAT,
  how: ' once for each request',
} as const;
const noPrompts = {
  why: 'Completions of a bare prompt are not supported.',
  instead: CHAT,
  how: ' with the prompt as a message of role `user`',
} as const;
const noEdits = {
  why: 'Images are generated from a text. Images cannot be edited.',
  instead: 'POST /v1/images/generations',
  how: ' with a `prompt` that describes the whole image',
} as const;
const noFiles = {
  why: 'Files are not stored, so they cannot be uploaded, listed or named by id.',
  instead: CHAT,
  how: ' with the content in its messages',
} as const;
const noCompletions = {
  why: 'Chat completions are not stored, so they cannot be listed, read, changed or deleted.',
  instead: 'GET /receipt/{task_id}',
  how: ' for the signed receipt of a call',
} as const;
const noAssistants = {
  ...noStore,
  why: 'Assistants, threads and conversations are not stored: calls are independent.',
};

/** The first row that a request matches applies. */
export const notOffered: readonly NotOffered[] = [
  { ...defaults, ...noPrompts, path: '/v1/completions' },
  { ...defaults, ...noPrompts, path: '/v1/complete', family: 'anthropic', instead: MESSAGES },
  { ...defaults, ...noCompletions, path: '/v1/chat/completions', reach: 'below' },
  {
    ...defaults,
    path: '/v1/responses/input_tokens',
    why: 'Tokens of a response are not counted in advance.',
    instead: 'POST /v1/messages/count_tokens',
    how: ' for an estimate of the same text',
  },
  {
    ...defaults,
    path: '/v1/responses/compact',
    why: 'Conversations are not compacted.',
    instead: RESPONSES,
    how: ' with a summary in place of the earlier turns',
  },
  {
    ...defaults,
    ...noStore,
    path: '/v1/responses',
    reach: 'below',
    why: 'Responses are not stored, so they cannot be read, deleted or canceled by id.',
  },
  { ...defaults, ...noBatches, path: '/v1/messages/batches', family: 'anthropic', instead: MESSAGES },
  { ...defaults, ...noBatches, path: '/v1/batches' },
  { ...defaults, path: '/v1/audio/speech', why: 'Speech is not synthesized.' },
  {
    ...defaults,
    path: '/v1/audio/translations',
    why: 'Speech is not translated.',
    instead: 'POST /v1/audio/transcriptions',
    how: ' for the text in its own language, which a chat can translate',
  },
  { ...defaults, ...noEdits, path: '/v1/images/edits' },
  { ...defaults, ...noEdits, path: '/v1/images/variations' },
  { ...defaults, path: '/v1/videos', why: 'Videos are not generated.' },
  { ...defaults, path: '/v1/moderations', why: 'Texts and images are not classified.' },
  { ...defaults, ...noFiles, path: '/v1/files' },
  { ...defaults, ...noFiles, path: '/v1/uploads' },
  { ...defaults, ...noAssistants, path: '/v1/assistants' },
  { ...defaults, ...noAssistants, path: '/v1/threads' },
  { ...defaults, ...noAssistants, path: '/v1/conversations' },
  {
    ...defaults,
    path: '/v1/fine_tuning',
    why: 'Models are not trained.',
    instead: 'GET /v1/models',
    how: ' for those that can be called',
  },
  {
    ...defaults,
    path: '/v1/vector_stores',
    why: 'Documents are neither stored nor searched.',
    instead: 'POST /v1/embeddings',
    how: ' for vectors of texts, which the caller stores and searches',
  },
  { ...defaults, path: '/v1/containers', why: 'Code is not run.' },
  { ...defaults, path: '/v1/evals', why: 'Evaluations are not run.' },
  {
    ...defaults,
    path: '/v1/realtime',
    why: 'Live sessions are not supported.',
    instead: CHAT,
    how: ' with `stream: true`',
  },
];

/** The 404 response for such an endpoint. Null if the path is not one of them. */
export function notOfferedAt(path: string, headers: DoorRequest['headers']): Answer | null {
  const row = notOffered.find(one => fits(one, path));
  if (!row) return null;
  const asks_anthropic = row.family === 'anthropic' || headers['anthropic-version'] !== undefined;
  const instead = asks_anthropic && row.instead === CHAT ? MESSAGES : row.instead;
  const told = problem({ code: 'not_offered', message: absenceSentence({ ...row, instead }), facts: { instead } });
  return inFaultForm(asks_anthropic ? 'anthropic' : 'problem', told);
}

function fits({ path, reach }: NotOffered, asked_path: string): boolean {
  return (asked_path === path && reach === 'from') || asked_path.startsWith(`${path}/`);
}

/** Sentence that says why the endpoint does not exist and what to use instead. */
export function absenceSentence({ why, instead, how }: NotOffered): string {
  return instead === null ? `${why} There is no other endpoint for this.` : `${why} Use ${instead}${how}.`;
}
