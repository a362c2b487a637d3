import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import type { PromptMembers } from './messages.ts';

/*
 * Estimates the tokens of a request without a call to a model; a hub may count differently. English text has about four bytes per token in
 * the vocabularies of current models. Other scripts have more tokens and more bytes.
 */

const BYTES_PER_TOKEN = 4;
/** Tokens around a turn: its role and its delimiters. */
const PER_TURN = 4;
/** Tokens around a tool, other than its name, description and schema; and the instructions that hubs add once if there are tools. */
const PER_TOOL = 16;
const FOR_TOOLS = 346;
/** The largest image that models read: 1,568 pixels a side, 750 pixels per token. */
const PER_IMAGE = 1_600;
/** A page of a PDF has 1,500 to 3,000 tokens, and about 50,000 bytes. */
const PER_PAGE = 2_250;
const BYTES_PER_PAGE = 50_000;

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

export function estimatedTokens({ system = [], messages, tools = [], output_config }: PromptMembers): number {
  const turns = [...(system.length > 0 ? [{ content: system }] : []), ...messages];
  const turn_tokens = turns.reduce((sum, { content }) => sum + PER_TURN + blocksOf(content), 0);
  const tool_tokens = tools.reduce(
    (sum, { name, description = '', input_schema }) =>
      sum + PER_TOOL + tokensOf(name + description) + tokensOf(JSON.stringify(input_schema)),
    tools.length > 0 ? FOR_TOOLS : 0,
  );
  return turn_tokens + tool_tokens + (output_config?.format ? tokensOf(JSON.stringify(output_config.format)) : 0);
}

function blocksOf(content: Json | undefined): number {
  if (typeof content === 'string') return tokensOf(content);
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, block: Json) => sum + (isJsonObject(block) ? blockOf(block) : 0), 0);
}

/** By the kind of a block. Models do not read the thinking of earlier turns. */
const byKind: Readonly<Record<string, (block: JsonObject) => number>> = {
  text: ({ text }) => tokensOf(String(text)),
  image: () => PER_IMAGE,
  document: ({ source, title = '', context = '' }) =>
    tokensOf(`${String(title)}${String(context)}`) + (isJsonObject(source) ? sourceOf(source) : 0),
  search_result: ({ source, title, content }) => tokensOf(`${String(source)}${String(title)}`) + blocksOf(content),
  tool_use: ({ name, input }) => PER_TURN + tokensOf(String(name)) + tokensOf(JSON.stringify(input)),
  tool_result: ({ content }) => PER_TURN + blocksOf(content),
};

function blockOf(block: JsonObject): number {
  return byKind[String(block.type)]?.(block) ?? 0;
}

function sourceOf({ type, data, content }: JsonObject): number {
  if (type === 'content') return blocksOf(content);
  if (type === 'text') return tokensOf(String(data));
  return Math.ceil((String(data).length * 3) / 4 / BYTES_PER_PAGE) * PER_PAGE;
}
