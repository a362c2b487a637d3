/*
 * How answers of model hubs end otherwise than by OpenAI's reference, byte for byte. A model of a development hub is named for each, so
 * that anyone can see what a caller is told of it; tests put the same bytes to the rules.
 */

export interface EndHabit {
  /** Where the provider says that it ends so, or who reported it. */
  readonly source: string;
  /** The body of a streamed answer. */
  readonly stream: string;
  /** Whether the connection is cut after it, in place of a proper end. */
  readonly cuts?: true;
  /** Of a request it has seen before it makes a proper answer. */
  readonly once?: true;
  /** The body of a whole answer; left out: a proper one. */
  readonly whole?: string;
}

const FIRST =
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"One "},"finish_reason":null}]}\n\n' +
  'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":"two "},"finish_reason":null}]}\n\n';

const CUT = {
  source: 'A connection cut before any finish reason, as reported in github.com/anomalyco/opencode/issues/37852',
  stream: FIRST,
  cuts: true,
} as const;

export const ends = {
  'dev/cuts-off': CUT,
  'dev/cuts-off-once': { ...CUT, once: true },
  'dev/ends-with-error-event': {
    source: 'OpenRouter, openrouter.ai/docs/api-reference/streaming (Handling Errors During Streaming)',
    stream: `${FIRST}data: {"id":"cmpl-abc123","object":"chat.completion.chunk","created":1234567890,"model":"gpt-3.5-turbo","provider":"openai","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}\n\n`,
  },
  'dev/ends-with-bare-error': {
    source: 'OpenAI, as recorded in github.com/coder/aibridge (fixtures/openai/chatcompletions/stream_error.txtar)',
    stream: `${FIRST}data: {"error": {"message": "The server had an error while processing your request. Sorry about that!", "type": "server_error"}}\n\n`,
  },
  'dev/runs-out-of-resources': {
    source: 'DeepSeek, api-docs.deepseek.com/api/create-chat-completion (finish_reason insufficient_system_resource)',
    stream: `${FIRST}data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"insufficient_system_resource"}]}\n\ndata: [DONE]\n\n`,
    whole:
      '{"id":"chatcmpl-1","object":"chat.completion","created":1733356800,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"One two "},"finish_reason":"insufficient_system_resource"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
  },
  'dev/odd-finish-reason': {
    source: 'Together, as reported in github.com/openai/openai-dotnet/pull/267',
    stream: `${FIRST}data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"eos"}]}\n\ndata: [DONE]\n\n`,
    whole:
      '{"id":"chatcmpl-1","object":"chat.completion","created":1733356800,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"One two "},"finish_reason":"eos"}],"usage":{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5}}',
  },
  'dev/anthropic-finish-reason': {
    source: 'Anthropic by OpenRouter, as reported in github.com/vercel/modelfusion/pull/343',
    stream: `${FIRST}data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1733356800,"model":"m","choices":[{"index":0,"delta":{"content":""},"finish_reason":"end_turn"}]}\n\ndata: [DONE]\n\n`,
    whole:
      '{"id":"gen-xxx","model":"anthropic/claude-3-opus","object":"chat.completion","created":1716730125,"choices":[{"index":0,"message":{"role":"assistant","content":"Hello! How can I assist you today?"},"finish_reason":"end_turn"}],"usage":{"prompt_tokens":10,"completion_tokens":12,"total_tokens":22}}',
  },
} as const satisfies Record<string, EndHabit>;
