import type { Json, JsonObject } from '../canonical-json.ts';
import { AUTO_MODEL, STAMPED_BY } from '../route-words.ts';
import type { DisputeClaim, ReadFact, RuleFinding } from './claim.ts';
import type { DisputeReason } from './reasons.ts';
import { isSameModel } from './same-model.ts';
import { isProven, modelOf, requestIn, shownText } from './shown-request.ts';
import { type ClaimRules, judgeByRules, rulesOfThird } from './third-rule.ts';

/*
 * Rule 4. It differs from rule 3 in claims about a model: it uses the model that the hub named in its response, as the receipt
 * signs it, or as the correction of the row names it if a resend brought the response. Receipts under policies 1 to 8 name none and
 * are judged by rule 3.
 */

export function judgeByFourth(claim: DisputeClaim, look: ReadFact): RuleFinding {
  return judgeByRules(rulesOfFourth, claim, look);
}

const rulesOfFourth: ClaimRules = {
  ...rulesOfThird,
  wrong_model: ({ evidence }, look) => ({ reason: modelReason(evidence, look) }),
};

/**
 * Reason for a claim about a model; the evidence is as in rule 3. If the requested model is the one that the receipt names as requested,
 * the request needs no proof, because the receipt is signed by the issuer.
 */
function modelReason(evidence: JsonObject, look: ReadFact): DisputeReason {
  if (look('disputed.hub') === STAMPED_BY) return 'no_model_sold';
  const shown = requestIn(evidence);
  const in_request = shown && modelOf(shown);
  const requested = in_request ?? shownText(evidence.requested_model) ?? shownText(evidence.model);
  const answer = answerOf(look);
  // A receipt signed before the work was done names no model.
  if (answer === null) return 'no_model_on_receipt';
  if (requested === null) return 'requested_model_not_named';
  if (requested === answer.asked_for) return answeredReason('model_as_requested', answer);
  // For `svc/auto`, the model that this service chose and named is the requested one.
  if (requested === AUTO_MODEL) return answeredReason('model_delegated', answer);
  if (answer.answered !== null && isSameModel(requested, answer.answered)) return 'answered_as_requested';
  const proven = in_request !== null && isProven(look('disputed.request_hash'), shown, evidence.salt);
  return proven ? 'another_model_answered' : 'request_not_proven';
}

interface ModelAnswer {
  readonly asked_for: string;
  /** Null if the hub named no model. */
  readonly answered: string | null;
  /** Id in its catalogue that this names. Null if none. */
  listed(): Json;
}

/** Source of the delivered response: the resend, if there was one and its correction names the model, otherwise the call itself. */
function answerOf(look: ReadFact): ModelAnswer | null {
  const resent = shownText(look('disputed.resend_model'));
  if (resent !== null && resent !== '') {
    const answered = shownText(look('disputed.resend_answered_model'));
    return { asked_for: resent, answered, listed: () => look('disputed.resend_answered_catalogue_model') };
  }
  const asked_for = shownText(look('disputed.model'));
  if (asked_for === null || asked_for === '') return null;
  const answered = shownText(look('disputed.answered_model'));
  return { asked_for, answered, listed: () => look('disputed.answered_catalogue_model') };
}

/** @param unless_named reason if the hub named exactly the requested model, or none */
function answeredReason(unless_named: DisputeReason, { asked_for, answered, listed }: ModelAnswer): DisputeReason {
  if (answered === null || answered === asked_for) return unless_named;
  if (isSameModel(asked_for, answered)) return 'answered_as_requested';
  const named = listed();
  if (named === null) return 'model_unclear';
  return named === asked_for ? 'answered_as_requested' : 'another_model_of_hub';
}
