import { isJsonObject, type Json, type JsonObject } from '../canonical-json.ts';
import type { AskedMessage } from './messages.ts';

/*
 * How many tokens a request comes to, without asking a model: an estimate, which differs from what a hub counts. English text has about
 * four bytes to a token in the vocabularies of today's models, and other scripts have more tokens and more bytes alike.
 */

const BYTES_PER_TOKEN = 4;
/** What frames a turn: its role and its ends. */
const PER_TURN = 4;
/** What frames a tool beside its name, description and schema; and what a model is told of tools at all, once. */
const PER_TOOL = 16;
const FOR_TOOLS = 346;
/** An image as large as models look at it: 1,568 pixels a side, 750 pixels a token. */
const PER_IMAGE = 1_600;
/** A page of a PDF comes to 1,500 to 3,000 tokens, and to some 50,000 bytes. */
const PER_PAGE = 2_250;
const BYTES_PER_PAGE = 50_000;

const tokensOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

export function estimatedTokens({ system = [], messages, tools = [], output_config }: AskedMessage): number {
  const turns = [...(system.length > 0 ? [{ content: system }] : []), ...messages];
  const said = turns.reduce((sum, { content }) => sum + PER_TURN + blocksOf(content), 0);
  const offered = tools.reduce(
    (sum, { name, description = '', input_schema }) =>
      sum + PER_TOOL + tokensOf(name + description) + tokensOf(JSON.stringify(input_schema)),
    tools.length > 0 ? FOR_TOOLS : 0,
  );
  return said + offered + (output_config?.format ? tokensOf(JSON.stringify(output_config.format)) : 0);
}

function blocksOf(content: Json | undefined): number {
  if (typeof content === 'string') return tokensOf(content);
  if (!Array.isArray(content)) return 0;
  return content.reduce((sum: number, block: Json) => sum + (isJsonObject(block) ? blockOf(block) : 0), 0);
}

/** By the kind of a block. Thinking of former turns is read by no model again. */
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
