import { policyCodeWords } from '../schema/policy.ts';
import { settledByWords } from '../schema/receipt-payload.ts';
import { wordEnum } from './graph-enum.ts';

/* Words that types of several subgraphs show, as the graph's enums. */

export const SettledByWord = wordEnum(settledByWords);
export const PolicyCodeWord = wordEnum(policyCodeWords);
