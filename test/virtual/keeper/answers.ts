/** The texts of answers. */

/** Of a refusal that would come again. */
export const lateText = 'too late'
export const unknownText = 'outcome-unknown: the brain does not know'
/** Follows the text of a long answer; nothing comes after its last character. */
export const longText = `${'x'.repeat(300 * 1024)}.`
