// The form in which e-mail addresses are compared.

/**
 * @rule D4 E-mail addresses are compared case-insensitively, in Unicode NFC.
 * See `normalized_email` in user.repository.ts: its unique constraint keeps a second spelling out.
 * Normalised again after lowering, since lowering can take a letter apart.
 */
export function normalizeEmail(email: string): string {
  return email.normalize('NFC').toLowerCase().normalize('NFC');
}
