// Posts the login form into the frame, as soon as both are there.
document.querySelector('#login').submit();
