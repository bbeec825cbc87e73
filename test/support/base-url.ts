/** The base URL of test instances. Tests without an instance use it too. */
export const BASE_URL = 'https://instance.example';
