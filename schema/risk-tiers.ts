import { z } from 'zod';
import { endpointName, riskyOperations } from './paid-operations.ts';
import { listOf } from './requests/parse.ts';

const known = new Set(riskyOperations);
/** Each name of one list is looked for in the other: of lists without an end nobody would see that. */
const Names = listOf(z.string().transform(endpointName), riskyOperations.length, 0).default([]);
export const RISK_TIERS = 'is {high: [names], low: [names]} and no more, or null';

/**
 * Which operations are how risky: `high` ones need a fresh approval at any amount, `low` ones none up to `tier2_above`, as
 * all that is in neither list. Names are those of paid endpoints and of acts, each in one list, once.
 */
export const RiskTiers = z
  .strictObject({ high: Names, low: Names }, { error: RISK_TIERS })
  .superRefine(({ high, low }, { addIssue }) => {
    const unknown = [...high, ...low].find(name => !known.has(name));
    if (unknown !== undefined)
      addIssue(`names ${JSON.stringify(unknown.slice(0, 64))}; known are ${riskyOperations.join(', ')}`);
    const twice = high.find(name => low.includes(name));
    if (twice !== undefined && unknown === undefined) addIssue(`has ${twice} both in high and in low`);
  })
  .transform(({ high, low }) => ({ high: [...new Set(high)], low: [...new Set(low)] }));
