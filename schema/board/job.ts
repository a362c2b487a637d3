/* Words of the board's jobs. */

/** `refused`: its second delivery was refused, or none came in time after the first was; `cancelled`: by its poster, before a pick. */
export const jobStates = ['open', 'picked', 'delivered', 'paid', 'closed', 'expired', 'refused', 'cancelled'] as const;
export type JobState = (typeof jobStates)[number];

export const jobActions = ['bid', 'pick', 'cancel', 'deliver', 'refuse', 'pay', 'challenge', 'reveal'] as const;
export type JobAction = (typeof jobActions)[number];

/** `revised`: its agent has made another since; `expired`: another was picked, or the job was over first. */
export const bidStates = ['open', 'revised', 'picked', 'expired'] as const;
export type BidState = (typeof bidStates)[number];

/** The two payments that a job costs whoever posted it. */
export const jobLegs = ['winner', 'fee'] as const;
export type JobLegName = (typeof jobLegs)[number];

/** `settling`: a payment for it is in progress or could still be used; whether it has moved is not known yet. */
export const legStates = ['unpaid', 'settling', 'settled'] as const;
export type LegState = (typeof legStates)[number];

/** How the bytes of an output are written in JSON. */
export const outputEncodings = ['utf8', 'base64'] as const;
export type OutputEncoding = (typeof outputEncodings)[number];
