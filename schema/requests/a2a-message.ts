import { z } from 'zod';
import { Refusal } from '../errors.ts';
import { ChatRequest } from './chat-completion.ts';

/**
 * Body of POST /a2a-message: a chat request. A2A clients speak JSON-RPC on the same path; to them it is said by name that
 * this is not served, before anything of their call is judged as the chat that it is none of.
 */
export const A2aMessage = z.preprocess(value => {
  if (typeof value === 'object' && value !== null && 'jsonrpc' in value)
    throw new Refusal('jsonrpc_not_served', { param: 'jsonrpc' });
  return value;
}, ChatRequest);
